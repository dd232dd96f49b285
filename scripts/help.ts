/** npm run help: a line for each script of package.json. */
import { pathToFileURL } from 'node:url';

export const scriptLines: Readonly<Record<string, string>> = {
  help: 'this list',
  start: 'set up what is missing, build and serve',
  test: 'set up what is missing, build and run every test, type check and lint',
  setup: 'set up what is missing and build',
  install: 'compile the native code into build/Release',
  build: 'build the service, its types and its pages into dist',
  'build:service': 'build the service alone',
  'build:pages': 'build the pages alone',
  types: 'check the types of service, pages and TypeScript client',
  lint: 'check format and rules of the code with Biome',
  bench: 'measure speed and compare it with peers: -- CASE, all without one',
  profile: 'show where the time of a request goes, with flame graphs in build/profile',
  fleet: 'start three hosts in network namespaces, as root',
  reliability:
    'attack the service, or test an installation: CASE, or -- CASE --long; -- tables writes docs/results/reliability.md',
  screenshots: 'take pictures of the pages in every state into build/screenshots',
  answers: 'record the examples of the documents from the built service, and write docs/columns.md',
  clients: 'write the types of the clients from the API document, and build the TypeScript client',
  prebuild: 'build the packages that users install into dist/packages',
  sbom: 'print a bill of materials (CycloneDX)',
  evaluate: 'measure the models on the labelled recordings of UNDERTONE_DATA: -- --write keeps the figures',
};

function commandOf(name: string): string {
  return name === 'start' || name === 'test' ? `npm ${name}` : `npm run ${name}`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const [name, line] of Object.entries(scriptLines)) console.log(`${commandOf(name).padEnd(23)}${line}`);
}
