import mermaid from 'mermaid';

const LIGHT = {
  darkMode: false,
  background: '#ffffff',
  primaryColor: '#d5eefa',
  primaryTextColor: '#083b55',
  primaryBorderColor: '#0b6a98',
  secondaryColor: '#eef7fb',
  tertiaryColor: '#f6fafc',
  lineColor: '#0b6a98',
  textColor: '#23262f',
  edgeLabelBackground: '#ffffff',
  labelBackgroundColor: '#ffffff',
  transitionLabelColor: '#23262f',
};
const DARK = {
  darkMode: true,
  background: '#17181c',
  primaryColor: '#0b2a3d',
  primaryTextColor: '#e6f5fc',
  primaryBorderColor: '#58bde6',
  secondaryColor: '#12303f',
  tertiaryColor: '#1d2228',
  lineColor: '#58bde6',
  textColor: '#eceef2',
  edgeLabelBackground: '#17181c',
  labelBackgroundColor: '#17181c',
  transitionLabelColor: '#eceef2',
};

/** Draws all diagrams in the colours of the theme, and again when the theme changes. */
export async function draw(): Promise<void> {
  const diagrams = [...document.querySelectorAll<HTMLElement>('pre.mermaid')];
  const sources = diagrams.map(({ textContent }) => textContent ?? '');
  const render = async () => {
    const theme = document.documentElement.dataset['theme'] === 'dark' ? DARK : LIGHT;
    mermaid.initialize({
      startOnLoad: false,
      theme: 'base',
      themeVariables: theme,
      flowchart: { useMaxWidth: false },
      state: { useMaxWidth: false },
      securityLevel: 'strict',
    });
    for (const [index, diagram] of diagrams.entries()) {
      delete diagram.dataset['processed'];
      diagram.textContent = sources[index] ?? '';
    }
    await mermaid.run({ nodes: diagrams });
    // A reader of the screen gets the source, which names each state and transition.
    for (const [index, diagram] of diagrams.entries()) {
      diagram.setAttribute('role', 'img');
      diagram.setAttribute('aria-label', sources[index] ?? '');
    }
  };
  await render();
  new MutationObserver(() => void render()).observe(document.documentElement, { attributeFilter: ['data-theme'] });
}
