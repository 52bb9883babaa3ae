// What the linter holds against the page's modules: mistakes, and every way by which a name could become markup.
const browser = [
  "WebAssembly", "ResizeObserver", "atob", "clearTimeout", "document", "getComputedStyle", "matchMedia", "performance",
  "requestAnimationFrame", "setTimeout", "window",
];
const markup = ["innerHTML", "outerHTML", "insertAdjacentHTML", "setHTMLUnsafe", "write", "writeln", "createContextualFragment", "srcdoc"];

export default [
  {
    languageOptions: { ecmaVersion: 2024, sourceType: "module", globals: Object.fromEntries(browser.map((name) => [name, "readonly"])) },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "no-undef": "error",
      "no-unused-vars": "error",
      "no-shadow": "error",
      "no-use-before-define": ["error", { functions: false, variables: false }],
      "no-const-assign": "error",
      "no-dupe-keys": "error",
      "no-unreachable": "error",
      "no-fallthrough": "error",
      "no-self-compare": "error",
      "no-implicit-globals": "error",
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-var": "error",
      "prefer-const": ["error", { destructuring: "all" }],
      eqeqeq: "error",
      "no-restricted-properties": ["error", ...markup.map((property) => ({ property, message: "names would become markup" }))],
    },
  },
];
