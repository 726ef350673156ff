/** The files outside docs/ that pages link to, each as a page of the site. */
import { shownFiles } from '../../scripts/docs/site-pages.js';

export default { paths: () => shownFiles().map(({ path, content }) => ({ params: { path }, content })) };
