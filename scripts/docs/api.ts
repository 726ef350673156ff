/** Writes the API of all entries of the package as Markdown, from the docstrings. */
import {
  Application,
  type DeclarationReflection,
  PageEvent,
  type ProjectReflection,
  ReflectionKind,
  TSConfigReader,
  type TypeDocOptions,
} from 'typedoc';
import { entries } from './site-pages.js';

const entryPoints = entries.map((name) => `src/${name === 'worker' ? 'msm/cpu/worker' : name}.ts`);

/** Options of typedoc-plugin-markdown: a page for each symbol, with a heading for each member. */
const markdown = {
  plugin: ['typedoc-plugin-markdown'],
  router: 'member',
  entryFileName: 'index',
  hidePageHeader: true,
  hideBreadcrumbs: true,
  useCodeBlocks: true,
  expandParameters: true,
  indexFormat: 'table',
  parametersFormat: 'table',
  typeDeclarationFormat: 'table',
  tableColumnSettings: { hideDefaults: true, hideInherited: true, hideModifiers: true, hideOverrides: true },
  pageTitleTemplates: {
    index: 'API',
    module: ({ name }: { name: string }) => (name === 'index' ? 'webgpu-msm' : `webgpu-msm/${name}`),
    member: ({ rawName }: { rawName: string }) => rawName.replace(/<.*/, ''),
  },
};

/** Interfaces that the package implements; callers implement the others. */
const handles = [
  ...['MsmEngine', 'Bases', 'Scalars', 'PointSection', 'NobleMsm', 'NobleBases', 'Accelerate'],
  ...['FieldEngine', 'FieldVector', 'FieldOperations', 'SparseMatrix', 'ProvingKey'],
];

/** Returns the public functions whose docstring has no `@example`. Methods that free need none. */
const withoutExample = (project: ProjectReflection) =>
  project
    .getReflectionsByKind(ReflectionKind.Function | ReflectionKind.Method)
    .filter(({ kind, name, parent }) => {
      const isFree = name === 'destroy' || name === '[dispose]';
      return !isFree && (kind === ReflectionKind.Function || handles.includes(parent?.name ?? ''));
    })
    .flatMap((found) => (found as DeclarationReflection).signatures ?? [])
    .filter(({ comment }) => comment?.getTag('@example') === undefined)
    .map((signature) => signature.getFullName());

/**
 * Changes the text of a page: headings in sentence case, and entries by the names that programs
 * import them by.
 */
function edit(page: PageEvent) {
  const text = (page.contents ?? '').replaceAll(
    /\b(Call Signature|Type (Parameter|Alias))/g,
    (heading) => `${heading.slice(0, 5)}${heading.slice(5).toLowerCase()}`,
  );
  const entry = (_: string, name: string): string => `| [webgpu-msm${name === 'index' ? '' : `/${name}`}](`;
  page.contents = page.url === 'index.md' ? text.replaceAll(/\| \[(\w+)\]\(/g, entry) : text;
}

/**
 * Writes the pages into a folder. Warnings are errors: they report dead links and missing
 * docstrings.
 *
 * @returns whether it succeeded
 */
export async function writeApi(out: string): Promise<boolean> {
  const app = await Application.bootstrapWithPlugins(
    {
      ...{ name: 'webgpu-msm', entryPoints, tsconfig: 'scripts/docs/tsconfig.json', out, ...markdown },
      ...{ readme: 'none', logLevel: 'Warn', treatWarningsAsErrors: true },
      ...{ disableSources: true, excludePrivate: true, excludeInternal: true, excludeExternals: true },
      // typedoc follows types that the package does not name
      intentionallyNotExported: ['Curves', 'NobleField'],
      intentionallyNotDocumented: ['toAffine.__type.x', 'toAffine.__type.y', 'Class.Fn.__type.ORDER'].map(
        (name) => `noble.NoblePoint${name.startsWith('Class') ? name : `.${name}`}`,
      ),
      sortEntryPoints: false,
      // defaults are prose, not code
      jsDocCompatibility: { defaultTag: false },
      validation: {
        ...{ notExported: true, notDocumented: true, unusedMergeModuleWith: true },
        ...{ invalidLink: true, invalidPath: true, rewrittenLink: true },
      },
    } as Partial<TypeDocOptions>,
    [new TSConfigReader()],
  );
  app.renderer.on(PageEvent.END, edit);
  const project = await app.convert();
  if (project === undefined) return false;
  app.validate(project);
  for (const name of withoutExample(project)) app.logger.warn(`${name} has no @example`);
  await app.generateOutputs(project);
  return !app.logger.hasErrors() && !app.logger.hasWarnings();
}
