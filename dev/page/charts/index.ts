import type { ChartData, ChartOptions } from '../../bench/parts.js';
import { distributionChart } from './distribution-chart.js';
import type { Chart } from './frame.js';
import { settingsChart } from './settings-chart.js';
import { stackedShares } from './stacked-shares.js';
import { timeChart } from './time-chart.js';
import { timeline } from './timeline.js';
import { waterfall } from './waterfall.js';

export const charts: { readonly [Kind in keyof ChartData]: (options: ChartOptions) => Chart<ChartData[Kind]> } = {
  time: timeChart,
  settings: settingsChart,
  shares: stackedShares,
  distribution: distributionChart,
  timeline,
  waterfall,
};
