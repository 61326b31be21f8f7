// A token from its issue to its revocation, judged by clients that nobody here has written. Prints what they found.
import { createRemoteJWKSet, jwtVerify } from "jose";
import * as oauth from "oauth4webapi";
import * as client from "openid-client";

const { BASE_URL, CLIENT_ID, CLIENT_SECRET } = process.env;
const onLoopback = { [oauth.allowInsecureRequests]: true };
const authenticated = { Authorization: "" };

// openid-client: configures itself, and gets a token.
const configuration = await client.discovery(new URL(BASE_URL), CLIENT_ID, CLIENT_SECRET, undefined, {
  algorithm: "oauth2",
  execute: [client.allowInsecureRequests],
});
const { access_token: token } = await client.clientCredentialsGrant(configuration, { scope: "monitors:read" });
authenticated.Authorization = `Bearer ${token}`;

// oauth4webapi: validates it as a resource server does (RFC 9068 §4).
const service = await oauth.processDiscoveryResponse(
  new URL(BASE_URL),
  await oauth.discoveryRequest(new URL(BASE_URL), { algorithm: "oauth2", ...onLoopback }),
);
const validate = (audience, bearer = token) =>
  oauth.validateJwtAccessToken(
    service,
    new Request("https://shop.example.com/", { headers: { Authorization: `Bearer ${bearer}` } }),
    audience,
    onLoopback,
  );
const refused = async (attempt) => attempt.then(() => false, () => true);
const claims = await validate("monitoring-api");
const isRefusedForOthers = await refused(validate("another-api"));
const [head, payload, signature] = token.split(".");
const changed = Buffer.from(JSON.stringify({ ...claims, scope: "monitors:write" })).toString("base64url");
const isRefusedWhenChanged = await refused(validate("monitoring-api", `${head}.${changed}.${signature}`));

// jose: verifies it with nothing but the address of the keys.
const { protectedHeader } = await jwtVerify(token, createRemoteJWKSet(new URL(service.jwks_uri)), {
  audience: "monitoring-api",
  issuer: BASE_URL,
  typ: "at+jwt",
});

// openid-client: asks about it, gives it up, and asks again.
const before = await client.tokenIntrospection(configuration, token);
const call = async () => (await fetch(`${BASE_URL}/api/monitors`, { headers: authenticated })).status;
const statusBefore = await call();
await client.tokenRevocation(configuration, token);
const after = await client.tokenIntrospection(configuration, token);
const statusAfter = await call();

// oauth4webapi does both too, with the other way to authenticate.
const credentials = [service, { client_id: CLIENT_ID }, oauth.ClientSecretBasic(CLIENT_SECRET)];
const revocation = await oauth.revocationRequest(...credentials, token, onLoopback);
await oauth.processRevocationResponse(revocation);
const introspection = await oauth.introspectionRequest(...credentials, token, onLoopback);
const again = await oauth.processIntrospectionResponse(service, { client_id: CLIENT_ID }, introspection);

console.log(
  JSON.stringify({
    algorithm: protectedHeader.alg,
    claims,
    isRefusedForOthers,
    isRefusedWhenChanged,
    before,
    after,
    again,
    statusBefore,
    statusAfter,
    isValidOffline: !(await refused(validate("monitoring-api"))),
  }),
);
