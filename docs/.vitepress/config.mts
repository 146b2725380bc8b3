import { readdirSync, readFileSync } from 'node:fs'
import { dirname, posix, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'

const docs = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const repository = 'https://github.com/ralph-loop/ralph'

// The pages by purpose, in reading order.
const groups: Record<string, string[]> = {
  Start: ['index', 'quickstart-github', 'quickstart-local'],
  Use: ['commands', 'laptop', 'tasks', 'plans', 'checks', 'reports', 'limits', 'troubleshooting', 'errors'],
  'Set up': ['github', 'app', 'agents', 'sandbox', 'security'],
  Reference: ['settings', 'action', 'cli', 'supervise'],
  Internals: [
    'internals/architecture', 'internals/requests', 'internals/detection', 'internals/prompts', 'internals/signatures',
    'internals/journal', 'internals/benchmarks', 'internals/complaints', 'internals/releasing', 'internals/style',
  ],
}

/** The names of all pages below a directory of docs: "guides/plan". */
function pages(dir = ''): string[] {
  return readdirSync(resolve(docs, dir), { withFileTypes: true }).flatMap((entry) => {
    const name = posix.join(dir, entry.name)
    if (entry.isDirectory()) return /^(\.|node_modules)/.test(entry.name) ? [] : pages(name)
    return name.endsWith('.md') ? [name.slice(0, -3)] : []
  })
}

const known = Object.values(groups).flat()
const rest = pages().filter((page) => !known.includes(page))
// A page without a group gets one, so it isn't found by search only.
if (rest.length > 0) groups.More = rest.sort()

/** The first heading of a page. */
function title(page: string): string {
  return readFileSync(resolve(docs, `${page}.md`), 'utf8').match(/^# (.*)$/m)?.[1].replaceAll('`', '') ?? page
}

/** The address of a heading as GitHub makes it, so that links hold in both places. */
function slug(heading: string): string {
  return heading.trim().toLowerCase().replace(/[^\w\- ]/g, '').replaceAll(' ', '-')
}

/** Where a link leads that leaves docs; what stays within is as it was. */
function outside(href: string, page: string): string {
  if (/^(?:[a-z]+:|#|\/)/i.test(href)) return href
  const to = posix.normalize(posix.join('docs', posix.dirname(page), href))
  return to.startsWith('docs/') && !/\/images\//.test(to) ? href : `${repository}/blob/main/${to}`
}

export default defineConfig({
  title: 'ralph',
  description: 'From an issue to a reviewed pull request: a coding agent in a loop, judged by checks it cannot change.',
  lang: 'en',
  base: process.env.RALPH_DOCS_BASE ?? '/',
  lastUpdated: false,
  markdown: {
    anchor: { slugify: slug },
    config(md) {
      // Two braces in a text are two braces, and no expression of Vue.
      for (const kind of ['text', 'code_inline'] as const) {
        const render = md.renderer.rules[kind]!
        md.renderer.rules[kind] = (...args) => render(...args).replaceAll('{{', '&#123;&#123;')
      }
      md.core.ruler.push('outside', (state) => {
        for (const token of state.tokens.flatMap((t) => t.children ?? [])) {
          const href = token.type === 'link_open' ? token.attrGet('href') : null
          if (href) token.attrSet('href', outside(href, state.env.relativePath))
        }
      })
    },
  },
  themeConfig: {
    nav: [
      { text: 'Quickstart', link: '/quickstart-github' },
      { text: 'Commands and flags', link: '/cli' },
      { text: 'Settings', link: '/settings' },
      { text: 'Troubleshooting', link: '/troubleshooting' },
    ],
    sidebar: Object.entries(groups).map(([text, items]) => ({
      text,
      collapsed: false,
      items: items.map((page) => ({ text: title(page), link: `/${page.replace(/index$/, '')}` })),
    })),
    outline: [2, 3],
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: repository }],
    editLink: { pattern: `${repository}/edit/main/docs/:path`, text: 'Edit this page' },
  },
})
