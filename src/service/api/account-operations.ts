/** Operations of the account page, the only ones that read cookies. */
import type { ErrorCode } from '../errors.ts';
import { json, type Operation } from './operation.ts';
import { type SchemaName, schemaRef } from './schemas.ts';

type Account = Omit<
  Operation,
  'tag' | 'path' | 'security' | 'description' | 'codes' | 'ok' | 'invalid' | 'samples'
> & {
  /** Relative to /account/api. */
  readonly path: string;
  readonly description?: string;
  readonly request?: SchemaName;
  readonly response: SchemaName;
  /** True if no log-in is required. */
  readonly open?: true;
  readonly codes?: readonly ErrorCode[];
};

const page = 'For the account page; programs use tokens.';
const sameOrigin = 'The header Origin must be that of the service.';
const bodyCodes: readonly ErrorCode[] = ['too_large', 'invalid'];

function account({ path, request, response, open, description, codes = [], ...rest }: Account): Operation {
  const sentences = [description, page, ...(rest.method === 'post' ? [sameOrigin] : [])];
  return {
    ...rest,
    path: `/account/api/${path}`,
    tag: 'Account',
    description: sentences.filter((sentence) => sentence !== undefined).join(' '),
    security: open ? [] : [{ session: [] }],
    ...(request && {
      requestBody: { required: true, content: { 'application/json': { schema: schemaRef(request) } } },
    }),
    ok: json(response),
    invalid: 'AccountValidationFailure',
    samples: [],
    codes: [
      ...(open ? [] : (['unauthenticated'] as const)),
      ...(rest.method === 'post' ? (['forbidden'] as const) : []),
      'misdirected',
      'storage_unavailable',
      ...(request ? bodyCodes : []),
      ...codes,
    ],
  };
}

const get = { method: 'get' } as const;
const post = { method: 'post' } as const;

export const accountOperations: readonly Operation[] = [
  account({
    ...get,
    path: 'session',
    operationId: 'session',
    summary: 'The current session',
    response: 'Session',
    open: true,
  }),
  account({
    ...post,
    path: 'sign-up',
    operationId: 'signUp',
    summary: 'Create an account and log in',
    description: 'The first account is the administrator. 403 when sign-up is closed.',
    request: 'SignUp',
    response: 'Session',
    open: true,
    codes: ['rate_limited'],
  }),
  account({
    ...post,
    path: 'log-in',
    operationId: 'logIn',
    summary: 'Log in',
    request: 'LogIn',
    response: 'Session',
    open: true,
    codes: ['unauthenticated', 'rate_limited'],
  }),
  account({
    ...post,
    path: 'log-out',
    operationId: 'logOut',
    summary: 'Log out',
    response: 'Empty',
    open: true,
  }),
  account({
    ...post,
    path: 'password',
    operationId: 'changePassword',
    summary: 'Change the password',
    description: 'Ends every other session; with `revoke_tokens` every token of the account too.',
    request: 'PasswordChange',
    response: 'Empty',
    codes: ['rate_limited'],
  }),
  account({
    ...post,
    path: 'remove',
    operationId: 'removeAccount',
    summary: 'Delete the account and its tokens',
    request: 'Removal',
    response: 'Empty',
    codes: ['rate_limited'],
  }),
  account({ ...get, path: 'tokens', operationId: 'listTokens', summary: 'List tokens', response: 'Tokens' }),
  account({
    ...get,
    path: 'usage',
    operationId: 'accountUsage',
    summary: 'Usage of the tokens',
    description: 'An administrator receives the counts of all tokens.',
    response: 'AccountUsage',
  }),
  account({
    ...post,
    path: 'tokens',
    operationId: 'createToken',
    summary: 'Create a token',
    request: 'TokenRequest',
    response: 'NewToken',
    codes: ['rate_limited'],
  }),
  account({
    ...post,
    path: 'tokens/{id}/revoke',
    operationId: 'revokeToken',
    summary: 'Revoke a token',
    parameters: [
      { name: 'id', in: 'path', required: true, description: 'Id of the token.', schema: { type: 'string' } },
    ],
    response: 'Empty',
    codes: ['not_found'],
  }),
  account({
    ...post,
    path: 'playground-token',
    operationId: 'playgroundToken',
    summary: 'A token of both scopes for 15 minutes',
    description: 'It is not listed and ends with the session.',
    response: 'PlaygroundToken',
    codes: ['rate_limited'],
  }),
  account({
    ...post,
    path: 'playground-link',
    operationId: 'playgroundLink',
    summary: 'A token of both scopes for the code of a link',
    description:
      'The start of the service prints the link. Its code works once, for 10 minutes, on the machine of the service; the token lasts 8 hours.',
    request: 'PlaygroundCode',
    response: 'PlaygroundToken',
    open: true,
    codes: ['unauthenticated'],
  }),
];
