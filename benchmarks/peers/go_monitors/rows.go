package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v4"
)

const (
	configured = "name, type, url, method, request_headers, request_body, expected_status_codes, required_keyword, " +
		"forbidden_keyword, assertions, contract, interval_seconds, timeout_seconds, follow_redirects, verify_tls, " +
		"certificate_authority, client_certificate, tls_expiry_warning_days, slow_threshold_ms, failure_threshold, " +
		"recovery_threshold, retry_interval_seconds, paused, tags"
	selected = "SELECT m.id, m.key, m.name, m.type, m.url, m.method, m.request_headers, m.request_body, m.expected_status_codes, " +
		"m.required_keyword, m.forbidden_keyword, m.assertions, m.contract, m.interval_seconds, m.timeout_seconds, " +
		"m.follow_redirects, m.verify_tls, m.certificate_authority, m.client_certificate, m.tls_expiry_warning_days, " +
		"m.slow_threshold_ms, m.failure_threshold, m.recovery_threshold, m.retry_interval_seconds, m.paused, m.tags, m.status, m.status_changed_at, w.last_checked_at, " +
		"CASE WHEN m.paused THEN NULL ELSE w.next_check_at END, w.last_response_time_ms, w.last_error, " +
		"CASE WHEN u.id IS NOT NULL THEN json_build_object('muted_until', u.muted_until, 'muted_by', u.muted_by)::text " +
		"END, m.created_at, m.updated_at, m.version FROM monitors m JOIN watches w ON w.monitor_id = m.id " +
		"LEFT JOIN mutes u ON u.monitor_id = m.id AND (u.muted_until IS NULL OR u.muted_until > now()) "
	selectPage  = selected + "WHERE m.team_id = $1 ORDER BY m.id DESC LIMIT $2"
	selectAfter = selected + "WHERE m.team_id = $1 AND m.id < $3 ORDER BY m.id DESC LIMIT $2"
	selectOne   = selected + "WHERE m.team_id = $1 AND m.id = $2"
	insertOne   = `
WITH place AS (
    UPDATE teams SET monitors_count = monitors_count + 1 WHERE id = $2 AND monitors_count < max_monitors
    RETURNING id
), monitor AS (
    INSERT INTO monitors (id, team_id, ` + configured + `, status, status_changed_at, created_at, updated_at,
                          version, search_text)
    SELECT $1, place.id, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20,
           $21, $22, $23, $24, $25, $26, $27, $28, $28, $28, 1, $29 FROM place
    RETURNING id, team_id, name, paused, status, created_at
), watch AS (
    INSERT INTO watches (id, monitor_id, due_at, next_check_at, settled, is_degraded, is_blind, streak)
    SELECT $30, id, CASE WHEN paused THEN NULL ELSE created_at END, created_at, 'pending', false, false, 0
    FROM monitor
), entry AS (
    INSERT INTO audit_entries (id, team_id, happened_at, actor, actor_client_id, address, action, subject, subject_id)
    SELECT $32, team_id, created_at, $33, $34, $35, 'monitor.created', name, id::text FROM monitor
)
INSERT INTO state_changes (id, monitor_id, changed_at, state) SELECT $31, id, created_at, status FROM monitor`
)

func scan(row pgx.Row, m *monitor) error {
	return row.Scan(
		&m.id, &m.key, &m.Name, &m.Type, &m.URL, &m.Method, &m.headers, &m.RequestBody, &m.codes, &m.RequiredKeyword,
		&m.ForbiddenKeyword, &m.assertions, &m.contract, &m.IntervalSeconds, &m.TimeoutSeconds, &m.FollowRedirects,
		&m.VerifyTLS, &m.CertificateAuthority, &m.ClientCertificate, &m.TLSExpiryWarningDays, &m.SlowThresholdMS,
		&m.FailureThreshold, &m.RecoveryThreshold, &m.RetryIntervalSeconds, &m.Paused, &m.tags,
		&m.status, &m.statusChangedAt, &m.lastCheckedAt, &m.nextCheckAt, &m.lastResponseTimeMS, &m.lastError,
		&m.mute, &m.createdAt, &m.updatedAt, &m.version,
	)
}

// page writes a page as JSON, row by row as they come.
func (s *service) page(ctx context.Context, team [16]byte, limit int, cursor string) ([]byte, error) {
	statement, values := selectPage, []any{team, limit + 1}
	if cursor != "" {
		after, err := base64.RawURLEncoding.DecodeString(cursor)
		if err != nil || len(after) != 16 {
			return nil, refused{400, "cursor: must be a cursor of a list"}
		}
		statement, values = selectAfter, append(values, *(*[16]byte)(after))
	}
	rows, err := s.pool.Query(ctx, statement, values...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	body, next := append(make([]byte, 0, 512*(limit+1)), `{"monitors":[`...), "null"
	var last [16]byte
	for number := 0; rows.Next(); number++ {
		if number == limit {
			next = `"` + base64.RawURLEncoding.EncodeToString(last[:]) + `"`
			break
		}
		var m monitor
		if err := scan(rows, &m); err != nil {
			return nil, err
		}
		if number > 0 {
			body = append(body, ',')
		}
		body, last = m.appendJSON(body), m.id
	}
	rows.Close()
	return append(append(append(body, `],"next_cursor":`...), next...), '}'), rows.Err()
}

// one writes one monitor as JSON, and returns its version.
func (s *service) one(ctx context.Context, team, id [16]byte) ([]byte, int32, error) {
	var m monitor
	err := scan(s.pool.QueryRow(ctx, selectOne, team, id), &m)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, 0, refused{404, "Monitor not found"}
	}
	if err != nil {
		return nil, 0, err
	}
	return m.appendJSON(make([]byte, 0, 1024)), m.version, nil
}

// insert creates a monitor within the team's plan, with its watch, its first state, and an entry of the audit log.
func (s *service) insert(ctx context.Context, by *key, address string, given *configuration) (*monitor, error) {
	now := time.Now().UTC().Truncate(time.Microsecond)
	m := &monitor{configuration: *given, id: newUUID(now), status: "pending", statusChangedAt: now, createdAt: now}
	m.updatedAt = now
	if m.Paused {
		m.status = "paused"
	} else {
		m.nextCheckAt = &now
	}
	m.headers, m.codes, m.tags = writeHeaders(m.RequestHeaders), writeTexts(m.ExpectedStatusCodes), writeTexts(m.Tags)
	m.assertions, m.contract = writeAssertions(m.Assertions), writeContract(m.Contract)
	done, err := s.pool.Exec(ctx, insertOne,
		m.id, by.team, m.Name, m.Type, m.URL, m.Method, m.headers, m.RequestBody, m.codes, m.RequiredKeyword,
		m.ForbiddenKeyword, m.assertions, m.contract, m.IntervalSeconds, m.TimeoutSeconds, m.FollowRedirects, m.VerifyTLS,
		m.CertificateAuthority, m.ClientCertificate, m.TLSExpiryWarningDays, m.SlowThresholdMS, m.FailureThreshold,
		m.RecoveryThreshold, m.RetryIntervalSeconds, m.Paused, m.tags, m.status, now,
		strings.ToLower(m.Name+"\n"+m.URL), newUUID(now), newUUID(now),
		newUUID(now), "API key "+by.name, by.clientID, address,
	)
	if err == nil && done.RowsAffected() == 0 {
		return nil, refused{403, "Monitor limit reached"}
	}
	return m, err
}

func newUUID(now time.Time) (id [16]byte) {
	binary.BigEndian.PutUint64(id[:], uint64(now.UnixMilli())<<16)
	rand.Read(id[6:])
	id[6], id[8] = id[6]&0x0f|0x70, id[8]&0x3f|0x80
	return id
}

func readUUID(written string) (id [16]byte, err error) {
	digits := strings.ReplaceAll(written, "-", "")
	if len(written) != 36 || len(digits) != 32 {
		return id, errors.New("no UUID")
	}
	_, err = hex.Decode(id[:], []byte(digits))
	return id, err
}

func writeUUID(id [16]byte) string { return string(appendUUID(nil, id)) }

func appendUUID(to []byte, id [16]byte) []byte {
	var digits [36]byte
	at := 0
	for number, length := range [...]int{4, 2, 2, 2, 6} {
		if number > 0 {
			digits[at] = '-'
			at++
		}
		hex.Encode(digits[at:], id[:length])
		copy(id[:], id[length:])
		at += 2 * length
	}
	return append(to, digits[:]...)
}
