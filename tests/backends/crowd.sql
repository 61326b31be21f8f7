-- Rows as years would leave them: one large team among small ones, and almost every translation done.
-- A row's id is its number, so that tests can name it.

-- Every row is there that another refers to. Looking it up for each takes almost as long as all the rest.
SET session_replication_role = replica;

CREATE FUNCTION id_of(number bigint) RETURNS uuid LANGUAGE sql IMMUTABLE
RETURN lpad(to_hex(number), 32, '0')::uuid;

INSERT INTO teams (id, name, plan, max_monitors, monitors_count, created_at)
SELECT id_of(n), 'Team ' || n, 'business', 100000, 0, now() FROM generate_series(1, 2001) n;

INSERT INTO api_keys (id, team_id, client_id, secret_sha256, name, scopes, created_at, last_used_at)
SELECT id_of(n), id_of(1 + n % 2000), 'mon_live_' || n, repeat('0', 64), 'Key', '[]', now(), NULL
FROM generate_series(1, 20000) n;

-- Of a day, spread over it.
INSERT INTO revoked_tokens (token_id, expires_at)
SELECT md5(n::text), now() + n * interval '1 second' FROM generate_series(1, 20000) n;

-- Teams have a hundred people and ten open invitations each, but the large one has a tenth of all.
INSERT INTO users (id, team_id, email, name, password_hash, role, created_at)
SELECT id_of(n), id_of(CASE WHEN n % 10 = 7 THEN 1 ELSE 2 + n % 1999 END), n || '@example.com', 'Ada', '-', 'member', now()
FROM generate_series(1, 20000) n;

INSERT INTO sessions (id, user_id, token_sha256, created_at, expires_at, last_seen_at, browser)
SELECT id_of(n), id_of(1 + n % 20000), lpad(to_hex(n), 64, '0'), now(), now() + interval '1 day', now(), ''
FROM generate_series(1, 40000) n;

INSERT INTO kept_answers (id, session_id, status, page, created_at)
SELECT id_of(n), id_of(n), 400, '', now() + n * interval '1 second' FROM generate_series(1, 20000) n;

INSERT INTO invitations (id, team_id, email, role, code_sha256, invited_by, created_at, expires_at)
SELECT
    id_of(n), id_of(1 + n % 2000), 'new-' || n || '@example.com', 'member', lpad(to_hex(n), 64, '0'), '-', now(),
    now() + interval '1 day'
FROM generate_series(1, 20000) n;

INSERT INTO audit_entries (id, team_id, happened_at, actor, action, subject)
SELECT id_of(n), id_of(CASE WHEN n % 10 = 7 THEN 1 ELSE 2 + n % 1999 END), now(), '-', 'session.signed_in', ''
FROM generate_series(1, 40000) n;

-- The large team has 1,000 of 30,000 monitors, scattered among the others'; one more has most of the first 12,000,
-- and has made none since.
INSERT INTO monitors (
    id, team_id, name, url, method, request_headers, expected_status_codes, interval_seconds, timeout_seconds,
    follow_redirects, verify_tls, tls_expiry_warning_days, failure_threshold, recovery_threshold, paused, tags,
    status, status_changed_at, created_at, updated_at, version, search_text
)
SELECT
    id_of(n), id_of(CASE WHEN n % 30 = 7 THEN 1 WHEN n <= 12000 THEN 2001 ELSE 2 + n % 1999 END),
    'Shop ' || n, 'https://shop.example.com/' || n, 'GET', '{}', '["2xx"]', 300, 15,
    true, true, 14, 2, 2, n % 100 = 7, CASE WHEN n % 10 = 7 THEN '["shop"]' ELSE '["blog", "eu"]' END,
    CASE WHEN n % 997 = 0 THEN 'down' ELSE 'up' END, now(), now(), now(), 1,
    'shop ' || n || E'\nhttps://shop.example.com/' || n
FROM generate_series(1, 30000) n;

UPDATE teams SET monitors_count = (SELECT count(*) FROM monitors WHERE team_id = teams.id);

-- Every 1,000th monitor is due.
INSERT INTO watches (id, monitor_id, due_at, next_check_at, settled, is_degraded, is_blind, streak)
SELECT id_of(n), id_of(n), due_at, due_at, 'up', false, false, 0
FROM (
    SELECT n, now() + interval '1 second' * CASE WHEN n % 1000 = 7 THEN -1 ELSE n END AS due_at
    FROM generate_series(1, 30000) n
) AS dated;

INSERT INTO heartbeats (id, monitor_id, token_sha256, encrypted_token)
SELECT id_of(n), id_of(n), md5(n::text) || md5('token ' || n), 'a token'
FROM generate_series(1, 30000, 3) n;

-- Of ten windows nine are over, and a few of the others are due.
INSERT INTO maintenance_windows (
    id, team_id, name, starts_at, duration_seconds, time_zone, monitor_ids, tags, due_at, created_at, updated_at
)
SELECT
    id_of(n), id_of(2 + n % 1999), 'Maintenance', now(), 600, 'UTC', '[]', '["shop"]',
    CASE WHEN n % 10 = 7 THEN now() + interval '1 second' * (n - 100) END, now(), now()
FROM generate_series(1, 20000) n;

INSERT INTO maintenance_spans (id, monitor_id, starts_at, ends_at)
SELECT id_of(n * 10 + week), id_of(n), now() - interval '7 day' * week, now() - interval '7 day' * week + interval '1 hour'
FROM generate_series(1, 30000) n, generate_series(1, 4) week;

INSERT INTO pending_deletions (id, monitor_id, team_id, deletion_id, delete_at)
SELECT id, id, team_id, team_id, now() + interval '1 day' FROM monitors WHERE team_id > id_of(2) LIMIT 10000;

INSERT INTO mutes (id, monitor_id, team_id) SELECT id, id, team_id FROM monitors WHERE team_id > id_of(2) LIMIT 10000;

INSERT INTO state_changes (id, monitor_id, changed_at, state)
SELECT id_of(n * 10 + position), id_of(n), now() - interval '1 day' * (position * 30), state
FROM generate_series(1, 30000) n, unnest('{up,down,up,pending}'::text[]) WITH ORDINALITY AS states (state, position);

-- Every 500th is open.
INSERT INTO incidents (
    id, team_id, monitor_id, started_at, confirmed_at, resolved_at, resolution, error, error_message
)
SELECT
    id_of(n), id_of(CASE WHEN n % 30 = 7 THEN 1 ELSE 2 + n % 1999 END), id_of(n), now(), now(),
    CASE WHEN n % 500 <> 7 THEN now() END, CASE WHEN n % 500 <> 7 THEN 'recovered' END, 'timeout', 'No answer'
FROM generate_series(1, 30000) n;

INSERT INTO notification_channels (id, team_id, name, url, events, enabled, secret, created_at, updated_at)
SELECT
    id_of(n), id_of(n), 'Pager', 'https://pager.example.com/', '["incident.opened", "incident.resolved"]', true,
    'whsec_', now(), now()
FROM generate_series(1, 2000) n;

-- The first 20 are due, the last thousand are old.
INSERT INTO notification_deliveries (
    id, channel_id, event, payload, status, attempts, due_at, created_at
)
SELECT
    id_of(n), id_of(1 + n % 2000), 'incident.opened', '{}', CASE WHEN n <= 20 THEN 'pending' ELSE 'delivered' END, 0,
    CASE WHEN n <= 20 THEN now() - interval '1 hour' END, now() - interval '31 days' * n / 30000
FROM generate_series(1, 30000) n;

CREATE TABLE checks_of_the_crowd PARTITION OF checks DEFAULT;
INSERT INTO checks (monitor_id, checked_at, outcome, response_time_ms)
SELECT id_of(n), now() - interval '5 minutes' * m, CASE WHEN m % 100 = 7 THEN 'down' ELSE 'up' END, 100
FROM generate_series(1, 30000, 30) n, generate_series(1, 200) m;

INSERT INTO rollups (id, monitor_id, "window", starts_at, check_count, failed_check_count, latencies)
SELECT
    id_of(n * 1000 + m), id_of(n), 'hour', date_trunc('hour', now()) - interval '1 hour' * m, 12, 0, '{"100": 12}'
FROM generate_series(1, 30000, 30) n, generate_series(1, 100) m;

INSERT INTO idempotency_keys (
    id, team_id, key, request_sha256, reply_status, reply_headers, reply_body, created_at
)
SELECT
    id_of(n), id_of(CASE WHEN n % 30 = 7 THEN 1 ELSE 2 + n % 1999 END), 'key ' || n, repeat('0', 64), 201, '{}',
    '{}', now() - interval '24 hours 5 minutes' * n / 30000
FROM generate_series(1, 30000) n;

-- One came every minute, and was translated at once. Every 500th is not published, every 5,000th has a rare tag and came
-- to a release that read no addresses.
INSERT INTO articles (
    id, identity, slug, title, address, status, revision, content_hash, payload, tags, received_at, updated_at, nudged_at
)
SELECT
    id_of(n), 'id:' || n, 'slug-' || n, 'Title', CASE WHEN n % 5000 = 7 THEN NULL ELSE '' END,
    CASE WHEN n % 500 = 7 THEN 'unpublished' ELSE 'published' END, 1,
    repeat('0', 64),
    '{"article": {"id": "' || n || '", "title": "Title", "content_markdown": "' || repeat('word ', 60) || '"}}',
    CASE WHEN n % 5000 = 7 THEN '["rare"]' WHEN n % 10 = 7 THEN '["shop"]' ELSE '["blog", "eu"]' END,
    moment, moment, now() - interval '1 hour'
FROM (SELECT n, now() - interval '1 minute' * (30000 - n) AS moment FROM generate_series(1, 30000) n) AS dated;

-- The first 20 articles are due, every 500th has failed, the rest is done.
INSERT INTO translations (id, article_id, locale, revision, status, attempts, due_at, translated_at)
SELECT
    id_of(n * 10 + position), id_of(n), locale, 1,
    CASE WHEN n <= 20 THEN 'queued' WHEN n % 500 = 0 THEN 'failed' ELSE 'translated' END, 0,
    now() - interval '1 hour', now() - interval '1 minute' * (30000 - n)
FROM generate_series(1, 30000) n, unnest('{es,pt,fr,it,ca}'::text[]) WITH ORDINALITY AS locales (locale, position);

INSERT INTO translation_memory (engine, locale, segment_hash, text)
SELECT engine, locale, lpad(to_hex(n), 64, '0'), 'Wort'
FROM generate_series(1, 6000) n, unnest('{pseudo,deepl}'::text[]) engine,
    unnest('{es,pt,fr,it,ca}'::text[]) locale;

-- A hundred years.
INSERT INTO engine_usage (month, engine, locale, characters, requests)
SELECT to_char(now() - n * interval '1 month', 'YYYY-MM'), engine, locale, 1000, 10
FROM generate_series(0, 1200) n, unnest('{pseudo,deepl}'::text[]) engine, unnest('{es,pt,fr,it,ca}'::text[]) locale;

-- Each segment is in six articles, and two of an article are in no other.
INSERT INTO article_history (id, article_id, happened_at, event, revision, locale)
SELECT id_of(n), id_of(1 + n % 20000), now(), 'translated', 1, 'es' FROM generate_series(1, 40000) n;

INSERT INTO refused_segments (translation_id, segment_hash, fault)
SELECT id, 'a', 'numbers' FROM translations LIMIT 20000;

INSERT INTO memory_uses (article_id, segment_hash)
SELECT id_of(n), lpad(to_hex(segment), 64, '0')
FROM generate_series(1, 30000) n, unnest(ARRAY[n % 5000, (n + 1) % 5000, 10000 + n, 50000 + n]) segment;

INSERT INTO article_links (article_id, key)
SELECT id_of(n), 'https://example.com/' || n FROM generate_series(1, 20000) n;

ANALYZE;
