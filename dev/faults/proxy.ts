/** Returns a proxy with some properties of its own; all others come from the target. */
export const proxyOf = <Target extends object>(target: Target, own: Readonly<Record<string, unknown>>): Target =>
  new Proxy(target, {
    get: (_, name) => {
      if (typeof name === 'string' && Object.hasOwn(own, name)) return own[name];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
