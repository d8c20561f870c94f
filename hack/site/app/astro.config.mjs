/** The site of docs/. hack/site/main.ts writes site.json and the pages in src/content/docs before Astro reads them. */
import starlight from '@astrojs/starlight';
import { defineConfig } from 'astro/config';
import site from './site.json' with { type: 'json' };

export default defineConfig({
  base: site.base,
  outDir: '../docs',
  trailingSlash: 'always',
  devToolbar: { enabled: false },
  integrations: [
    starlight({
      title: 'windowspool-operator',
      description: 'Pools of Windows nodes in Kubernetes',
      logo: { src: './src/assets/logo.svg', alt: '' },
      favicon: '/favicon.svg',
      customCss: ['./src/styles/site.css'],
      components: { SocialIcons: './src/components/SocialIcons.astro', Footer: './src/components/Footer.astro' },
      social: [{ icon: 'github', label: 'GitHub', href: site.repository }],
      sidebar: site.sidebar,
      tableOfContents: { minHeadingLevel: 2, maxHeadingLevel: 3 },
      lastUpdated: false,
      credits: false,
    }),
  ],
});
