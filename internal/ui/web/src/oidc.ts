// Signs in with the identity provider: the authorization code flow with PKCE, as a public client. What the flow must remember while the
// browser is at the provider stays in this tab.
import * as oauth from "oauth4webapi";
import { setToken, settings } from "./api";

const key = "timerbus-sign-in";
const timeout = 10_000;
// The page of the UI, which is registered at the provider.
const redirectURI = new URL("./", document.baseURI).href;

interface Pending { state: string; nonce: string; verifier: string; hash: string }

const { issuer, audience, clientID, scopes } = settings.signIn;
const client: oauth.Client = { client_id: clientID };

// issuerName is for people; "" if the service has no sign-in.
export const issuerName = clientID && new URL(issuer).host;

// options are those of each request. A provider without TLS is for tests on one machine.
const options = () => ({ [oauth.allowInsecureRequests]: issuer.startsWith("http:"), signal: AbortSignal.timeout(timeout) });

async function discover(): Promise<oauth.AuthorizationServer> {
  // Browsers have it on pages with HTTPS, and on those of this machine.
  if (!isSecureContext) throw new Error("This page must be opened with HTTPS to sign in with the identity provider.");
  const server = await oauth.processDiscoveryResponse(new URL(issuer), await oauth.discoveryRequest(new URL(issuer), options()));
  if (!server.authorization_endpoint || !server.token_endpoint) throw new Error("It has no endpoints for the sign-in of users.");
  if (new URL(server.token_endpoint).origin !== new URL(issuer).origin) {
    throw new Error(`Its token endpoint ${server.token_endpoint} has another origin than the issuer, to which the policy of this page allows no requests.`);
  }
  // The address to which the browser goes; the library checks those to which it sends requests.
  if (new URL(server.authorization_endpoint).protocol !== new URL(issuer).protocol) {
    throw new Error(`Its sign-in page ${server.authorization_endpoint} has another scheme than the issuer.`);
  }
  return server;
}

// explained is an error for the user.
function explained(cause: unknown): Error {
  if (cause instanceof oauth.AuthorizationResponseError || cause instanceof oauth.ResponseBodyError) {
    return new Error(`${issuerName} refuses the sign-in: ${[cause.error, cause.error_description].filter(Boolean).join(": ")}`);
  }
  const text = cause instanceof Error ? cause.message : String(cause);
  // fetch says no more.
  if (cause instanceof TypeError && !(cause as { code?: string }).code) {
    return new Error(`${issuerName} cannot be reached from this browser, or does not allow requests of this page (CORS): ${text}`);
  }
  return new Error(`The sign-in with ${issuerName} has failed: ${text}`);
}

// beginSignIn sends the browser to the provider.
export async function beginSignIn(): Promise<void> {
  try {
    const server = await discover();
    const pending: Pending = {
      state: oauth.generateRandomState(), nonce: oauth.generateRandomNonce(), verifier: oauth.generateRandomCodeVerifier(), hash: location.hash,
    };
    const url = new URL(server.authorization_endpoint!);
    for (const [name, value] of Object.entries({
      response_type: "code", client_id: clientID, redirect_uri: redirectURI, scope: scopes, state: pending.state, nonce: pending.nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(pending.verifier), code_challenge_method: "S256",
    })) url.searchParams.set(name, value);
    sessionStorage.setItem(key, JSON.stringify(pending));
    location.assign(url);
  } catch (cause) {
    throw explained(cause);
  }
}

// returned is whether the provider has sent the browser back.
export function returned(): boolean {
  const query = new URLSearchParams(location.search);
  return clientID !== "" && (query.has("code") || query.has("error"));
}

// endSignIn uses the answer of the provider. The answer leaves the address and the history of the tab in any case, and is used once.
export async function endSignIn(): Promise<void> {
  const answer = new URL(location.href);
  const pending = JSON.parse(sessionStorage.getItem(key) ?? "null") as Pending | null;
  sessionStorage.removeItem(key);
  history.replaceState(null, "", redirectURI + (pending?.hash ?? ""));
  dispatchEvent(new HashChangeEvent("hashchange"));
  if (!pending) throw new Error("The answer of the identity provider belongs to no sign-in of this tab. Sign in again.");
  try {
    const server = await discover();
    const parameters = oauth.validateAuthResponse(server, client, answer, pending.state);
    const response = await oauth.authorizationCodeGrantRequest(server, client, oauth.None(), parameters, redirectURI, pending.verifier, options());
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, { expectedNonce: pending.nonce, requireIdToken: true });
    const token = [tokens.access_token, tokens.id_token].find((t) => t !== undefined && audiences(t).includes(audience));
    if (!token) throw new Error(`neither the access token nor the ID token is a JWT with the audience ${audience}.`);
    setToken(token);
  } catch (cause) {
    throw explained(cause);
  }
}

// audiences returns those of a JWT, which the service verifies; none for other tokens.
function audiences(token: string): string[] {
  try {
    const text = atob((token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/"));
    return [(JSON.parse(text) as { aud?: string | string[] }).aud ?? []].flat();
  } catch {
    return [];
  }
}
