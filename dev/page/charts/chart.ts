/** What every chart of the page is to its caller. */
export interface Chart<Data> {
  readonly root: HTMLElement;
  update(data: Data): void;
}

export interface ChartOptions {
  readonly caption: string;
  /** One sentence that says what the picture shows, for those who do not see it. */
  readonly summary: string;
}

/** The chart with these data; without any it is out of sight. */
export function show<Data>(chart: Chart<Data>, data: Data | null): void {
  chart.root.hidden = data === null;
  if (data !== null) chart.update(data);
}
