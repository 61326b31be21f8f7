// Has a job ping a heartbeat by a client of Healthchecks, which is told only the address.
// node contract-tests/strangers/ping.mjs https://monitoring.example.com/ping/ UUID
import healthchecks from 'healthchecks-io-client';

const [baseUrl, uuid] = process.argv.slice(2);
const client = new healthchecks.HealthChecksPingClient({ baseUrl, uuid, returnResponse: true });
for (const answer of [await client.start(), await client.success('by healthchecks-io-client'), await client.fail()]) {
    if (answer !== 'OK') throw new Error(`answered ${answer}`);
}
