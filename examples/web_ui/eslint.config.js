import jsxA11y from 'eslint-plugin-jsx-a11y';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

const spokenAttributes = new Set(['aria-label', 'title', 'placeholder', 'alt', 'label', 'aria-description']);
const hasWords = (text) => /\p{L}{2,}/u.test(text);

// Every word a person can read comes from src/locales.
const textFromLocales = {
  meta: { type: 'problem', schema: [], messages: { text: 'Text belongs into src/locales: "{{text}}"' } },
  create: (context) => ({
    JSXText(node) {
      if (hasWords(node.value)) context.report({ node, messageId: 'text', data: { text: node.value.trim() } });
    },
    JSXAttribute(node) {
      const { name, value } = node;
      if (spokenAttributes.has(name.name) && value?.type === 'Literal' && hasWords(String(value.value)))
        context.report({ node, messageId: 'text', data: { text: String(value.value) } });
    },
  }),
};

export default tseslint.config(
  { ignores: ['node_modules', 'dist', 'src/api/schema.d.ts', 'test-results', 'playwright-report'] },
  ...tseslint.configs.recommended,
  jsxA11y.flatConfigs.recommended,
  reactHooks.configs.flat.recommended,
  {
    rules: {
      '@typescript-eslint/no-unused-vars': ['error', { varsIgnorePattern: '^_', argsIgnorePattern: '^_' }],
      'jsx-a11y/label-has-associated-control': ['error', { controlComponents: ['Checkbox', 'Input'], depth: 3 }],
      // Scrolling regions must be reachable by keyboard.
      'jsx-a11y/no-noninteractive-tabindex': 'off',
    },
  },
  // Fixtures of Playwright are given a function that happens to be called `use`.
  { files: ['e2e/**', 'figures/**'], rules: { 'react-hooks/rules-of-hooks': 'off', 'no-empty-pattern': 'off' } },
  {
    files: ['src/**/*.{ts,tsx}'],
    plugins: { local: { rules: { 'text-from-locales': textFromLocales } } },
    rules: {
      'local/text-from-locales': 'error',
      'no-console': 'error',
      'max-lines': ['error', 400],
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
    },
  },
);
