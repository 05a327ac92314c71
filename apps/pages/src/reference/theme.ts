/** The palette of the pages (shared/tokens.css) under the names that Redoc uses. */

const LIGHT = {
  paper: '#f6f6f3',
  surface: '#ffffff',
  sunken: '#f0f0ec',
  line: '#e1e1db',
  ink: '#17191c',
  soft: '#575c64',
  accent: '#2a4fc4',
  good: '#0d6b3d',
  bad: '#b02318',
  warn: '#7d5200',
  panel: '#20252b',
  code: '#151a1f',
};
const DARK = {
  paper: '#0f1113',
  surface: '#16191c',
  sunken: '#101316',
  line: '#2a2f34',
  ink: '#eaecee',
  soft: '#a3aab3',
  accent: '#9ab6ff',
  good: '#5fd397',
  bad: '#ff938a',
  warn: '#f0c067',
  panel: '#15181b',
  code: '#0b0d0f',
};

const SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
const MONO = 'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, monospace';

export const themeFor = (isDark: boolean): object => {
  const c = isDark ? DARK : LIGHT;
  return {
    spacing: { unit: 5, sectionHorizontal: 40, sectionVertical: 20 },
    colors: {
      // Redoc writes it on white, and white on it, in either scheme. Links have a colour of their own.
      primary: { main: LIGHT.accent },
      success: { main: c.good },
      warning: { main: c.warn },
      error: { main: c.bad },
      text: { primary: c.ink, secondary: c.soft },
      border: { dark: c.line, light: c.line },
      gray: { 50: c.sunken, 100: c.line },
      responses: {
        success: { color: c.good, backgroundColor: c.sunken, tabTextColor: '#5fd397' },
        error: { color: c.bad, backgroundColor: c.sunken, tabTextColor: '#ff938a' },
        redirect: { color: c.warn, backgroundColor: c.sunken, tabTextColor: '#f0c067' },
        info: { color: c.accent, backgroundColor: c.sunken, tabTextColor: '#9ab6ff' },
      },
    },
    schema: {
      nestedBackground: c.sunken,
      linesColor: c.line,
      typeNameColor: c.soft,
      typeTitleColor: c.soft,
      requireLabelColor: c.bad,
      arrow: { color: c.soft },
    },
    typography: {
      fontFamily: SANS,
      fontSize: '15px',
      headings: { fontFamily: SANS, fontWeight: '620' },
      code: { fontFamily: MONO, color: c.ink, backgroundColor: c.sunken, wrap: true },
      links: { color: c.accent, visited: c.accent, hover: c.accent },
    },
    sidebar: {
      backgroundColor: c.paper,
      textColor: c.ink,
      activeTextColor: c.accent,
      arrow: { color: c.soft },
    },
    rightPanel: { backgroundColor: c.panel, textColor: '#eaecee' },
    codeBlock: { backgroundColor: c.code },
    fab: { backgroundColor: c.surface, color: c.accent },
  };
};
