// Demands that both parsers find nothing to say about a document: node validate.mjs openapi.yaml
import { readFileSync } from 'node:fs';
import SwaggerParser from '@apidevtools/swagger-parser';
import { validate } from '@scalar/openapi-parser';

for (const path of process.argv.slice(2)) {
  await SwaggerParser.validate(path);
  const { valid, errors } = await validate(readFileSync(path, 'utf8'));
  if (!valid || errors?.length) throw new Error(`${path}: ${JSON.stringify(errors, null, 2)}`);
}
