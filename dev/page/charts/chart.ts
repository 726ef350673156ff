/** What every chart of the page is to its caller. */
export interface Chart<Data> {
  readonly root: HTMLElement;
  update(data: Data): void;
  destroy(): void;
}

export interface ChartOptions<Data> {
  readonly caption: string;
  /** One sentence that says what the picture shows, for those who do not see it. */
  readonly summary: string | ((data: Data) => string);
  readonly data: Data;
}

export const summarize = <Data>({ summary }: ChartOptions<Data>, data: Data): string =>
  typeof summary === 'string' ? summary : summary(data);
