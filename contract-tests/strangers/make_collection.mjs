// Writes a Postman collection from the document: node make_collection.mjs openapi.yaml collection.json
// Its requests run from top to bottom, with the variables baseUrl, client_id, client_secret and apiKey. The folder
// Sandbox needs a test key, and the folder Articles a live one.
import { readFileSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import converter from 'openapi-to-postmanv2';

// What later requests need of an answer: the variables, and where they are in the answer.
const REMEMBERED = {
  'Exchange client credentials for a bearer token': { bearerToken: 'access_token' },
  'Create a monitor': { monitor_id: 'id' },
  'Create or replace a monitor by your own key': { heartbeat_id: 'monitor.id', ping_token: "monitor.ping_url.split('/').at(-1)" },
  'Renew the ping URL of a heartbeat': { ping_token: "ping_url.split('/').at(-1)" },
  'List incidents': { incident_id: "incidents.find(incident => incident.state === 'open')?.id" },
  'Start or plan maintenance': { window_id: 'id' },
  'Create a notification channel': { channel_id: 'id' },
  'Send a test notification': { delivery_id: 'id' },
  'Submit an article': { article_id: 'article_id' },
  "List a translation's segments": { segment_id: 'segments[0].id' },
};
const BODIES = {
  'Create or replace a monitor by your own key': { type: 'heartbeat', heartbeat: { period_seconds: 86_400 } },
  'Open an incident now': { monitor_id: '{{monitor_id}}' },
};
const AT_THE_END = [
  'Delete a maintenance window', 'Change a notification channel', 'Delete a notification channel', 'Delete a monitor', 'Delete an article', 'Revoke a token',
];
const SENT_IN_FORMS = { client_id: '{{client_id}}', client_secret: '{{client_secret}}', token: '{{bearerToken}}' };

const script = (listen, exec) => ({ listen, script: { type: 'text/javascript', exec: [exec] } });

const [documentPath, collectionPath] = process.argv.slice(2);
const { result, reason, output } = await promisify(converter.convertV2)(
  { type: 'string', data: readFileSync(documentPath, 'utf8') },
  { folderStrategy: 'Tags', parametersResolution: 'Example', enableOptionalParameters: false },
);
if (!result) throw new Error(reason);
const collection = output[0].data;
const requests = Object.fromEntries(collection.item.flatMap(folder => folder.item ?? []).map(item => [item.name, item]));

for (const { name: folder, item: items = [] } of collection.item) {
  for (const { request } of items) {
    for (const variable of request.url.variable) {
      if (variable.key.endsWith('_id')) variable.value = `{{${variable.key}}}`;
      if (variable.key === 'monitor_id' && folder === 'Heartbeats') variable.value = '{{heartbeat_id}}';
      if (variable.key === 'token') variable.value = '{{ping_token}}';
    }
    for (const field of request.body?.urlencoded ?? []) {
      field.disabled = !(field.key in SENT_IN_FORMS);
      field.value = SENT_IN_FORMS[field.key] ?? field.value;
    }
  }
}
for (const [name, places] of Object.entries(REMEMBERED)) {
  for (const [variable, place] of Object.entries(places)) {
    requests[name].event.push(script('test', `pm.collectionVariables.set('${variable}', pm.response.json().${place});`));
  }
}
for (const [name, body] of Object.entries(BODIES)) requests[name].request.body.raw = JSON.stringify(body);
for (const name of ['Get an incident', 'Acknowledge an incident', 'List the notes of an incident', 'Write a note about an incident']) {
  requests[name].event.push(
    script('prerequest', "if (!pm.collectionVariables.get('incident_id')) pm.execution.skipRequest();"),
  );
}
collection.event = [
  script('test', "pm.test('succeeds', () => pm.expect(pm.response.code).to.be.within(200, 299));"),
];
for (const folder of collection.item) folder.item = folder.item?.filter(item => !AT_THE_END.includes(item.name));
collection.item = collection.item.filter(folder => folder.item?.length);
collection.item.push({ name: 'At the end', item: AT_THE_END.map(name => requests[name]) });
collection.variable = ['baseUrl', 'client_id', 'client_secret', 'apiKey'].map(key => ({ key, value: '' }));
writeFileSync(collectionPath, JSON.stringify(collection, null, 2) + '\n');
