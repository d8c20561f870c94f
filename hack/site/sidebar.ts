/** The order of the pages in the sidebar. */
import { routeOf } from './sitePage.ts';

/** A group of links in Starlight's configuration. */
export interface Group {
  readonly label: string;
  readonly collapsed?: boolean;
  readonly items: readonly (string | Group)[];
}

/** The parts of docs/ by folder, with the pages that come first. Pages that are not listed follow in alphabetical order. */
const PARTS: readonly { readonly label: string; readonly folder: string; readonly first: readonly string[] }[] = [
  { label: 'Tutorials', folder: 'tutorials', first: ['demo', 'first-pool'] },
  {
    label: 'How-to guides',
    folder: 'how-to',
    first: [
      'install',
      'prerequisites',
      'scale',
      'update-nodes',
      'canary-updates',
      'replace-nodes',
      'replace-node-groups',
      'move-workloads',
      'lint-workloads',
      'pull-images',
      'smoke-test',
      'adopt',
      'existing-nodes',
      'karpenter',
      'machines',
      'cluster-api',
      'openshift',
      'launch-templates',
      'custom-amis',
      'user-data',
      'gmsa',
      'networking',
      'storage',
      'registries',
      'logs',
      'monitoring',
      'node-readiness',
      'argocd',
      'flux',
      'kubectl',
      'upgrade-the-operator',
      'verify-a-release',
      'uninstall',
    ],
  },
  { label: 'Move from', folder: 'how-to/from', first: [] },
  {
    label: 'Concepts',
    folder: 'concepts',
    first: [
      'pool',
      'verification',
      'gate',
      'disruption',
      'adoption',
      'gitops',
      'security',
      'architecture',
      'comparison',
    ],
  },
  {
    label: 'Reference',
    folder: 'reference',
    first: [
      'api',
      'reasons',
      'checks',
      'advice',
      'errors',
      'metrics',
      'alerts',
      'plugin',
      'chart-values',
      'versions',
      'project-status',
      'names',
      'performance',
    ],
  },
  { label: 'Operate', folder: 'operate', first: ['symptoms', 'sizing', 'faq', 'glossary'] },
  { label: 'Runbooks', folder: 'operate/runbooks', first: [] },
];

/** Parts that a reader seldom needs are collapsed. */
const COLLAPSED = ['Runbooks'];

/** The sidebar for the pages of docs/. Throws if a page is in no part, because no reader would find it. */
export function sidebarOf(paths: readonly string[]): readonly Group[] {
  const routes = paths.map(routeOf).filter((route) => route !== '');
  const lost = routes.filter((route) => !PARTS.some(({ folder }) => isIn(folder, route)));
  if (lost.length > 0)
    throw new Error(`In no part of the sidebar: ${lost.join(', ')}. Add a part to hack/site/sidebar.ts.`);
  return PARTS.map(({ label, folder, first }) => {
    const names = routes.filter((route) => isIn(folder, route)).map((route) => route.slice(folder.length + 1));
    const order = (name: string) => (first.includes(name) ? first.indexOf(name) : first.length);
    const sorted = names.sort((a, b) => order(a) - order(b) || a.localeCompare(b));
    const group = { label, items: sorted.map((name) => `${folder}/${name}`) };
    return COLLAPSED.includes(label) ? { ...group, collapsed: true } : group;
  }).filter(({ items }) => items.length > 0);
}

const isIn = (folder: string, route: string): boolean => route.slice(0, Math.max(0, route.lastIndexOf('/'))) === folder;
