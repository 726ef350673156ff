export { type Chart, type ChartOptions, show } from './chart.js';
export { type Colour, colourOf } from './colours.js';
export { type DistributionData, distributionChart } from './distribution-chart.js';
export { type Setting, type SettingsData, settingsChart } from './settings-chart.js';
export { type SharesData, stackedShares } from './stacked-shares.js';
export { type TimeData, type TimePoint, type TimeSeries, timeChart } from './time-chart.js';
export { type Block, type TimelineData, timeline } from './timeline.js';
