/** Configures the docs site. `npm run docs` builds it, with the API and the bench. */
import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitepress';
import { inProject, menu, REPOSITORY, sidebar, siteRules } from '../../scripts/docs/site-pages.js';

const icon = `data:image/svg+xml,${encodeURIComponent(readFileSync(inProject('dev/icon.svg'), 'utf8'))}`;

export default defineConfig({
  title: 'webgpu-msm',
  description: 'Multi-scalar multiplication on elliptic curves, on WebGPU and the CPU.',
  lang: 'en',
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: icon }]],
  // the search loads the text of all pages, which is one large file
  vite: { build: { chunkSizeWarningLimit: 4000 } },
  // the bench is built beside the pages
  ignoreDeadLinks: [/^\/bench\//],
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: siteRules,
  },
  themeConfig: {
    logo: { src: icon, alt: '' },
    nav: menu(),
    sidebar: sidebar(),
    outline: { level: [2, 3] },
    // shown files are no pages to search for
    search: {
      provider: 'local',
      options: {
        _render: (src, env, md) => (env.relativePath.startsWith(REPOSITORY) ? '' : md.render(src, env)),
      },
    },
  },
});
