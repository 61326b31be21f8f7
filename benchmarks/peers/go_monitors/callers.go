package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/jackc/pgx/v4"
	"github.com/jackc/pgx/v4/pgxpool"
)

const (
	rateLimit     = 1_000_000_000
	windowSeconds = 60
	findKey       = "SELECT team_id, scopes::text, name, last_used_at FROM api_keys WHERE client_id = $1 AND revoked_at IS NULL"
	useKey        = "UPDATE api_keys SET last_used_at = $2 WHERE client_id = $1"
)

var hit = redis.NewScript(1, `
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return {count, redis.call('PTTL', KEYS[1])}`)

type claims struct {
	Issuer   string `json:"iss"`
	Audience string `json:"aud"`
	Subject  string `json:"sub"`
	IssuedAt int64  `json:"iat"`
	Expires  int64  `json:"exp"`
	ID       string `json:"jti"`
	Scope    string `json:"scope"`
}

type key struct {
	clientID string
	team     [16]byte
	scopes   []string
	name     string
	until    time.Time
}

// callers judges who asks: token, key and rate limit. A key is kept for a while, in which a revoked one works.
type callers struct {
	pool    *pgxpool.Pool
	redis   *redis.Pool
	secret  []byte
	keepFor time.Duration
	known   sync.Map
}

func newCallers(pool *pgxpool.Pool, redisURL, secret string, keepFor time.Duration) *callers {
	dial := func() (redis.Conn, error) { return redis.DialURL(redisURL) }
	return &callers{pool: pool, redis: &redis.Pool{Dial: dial, MaxIdle: 16}, secret: []byte(secret), keepFor: keepFor}
}

// letIn returns the caller's key, and sets the headers of the rate limit.
func (c *callers) letIn(writer http.ResponseWriter, request *http.Request, scope string) (*key, error) {
	claims, err := c.verify(request.Header.Get("Authorization"))
	if err != nil {
		return nil, err
	}
	found, err := c.find(request.Context(), claims.Subject)
	if err != nil {
		return nil, err
	}
	if err := c.count(writer, claims.Subject); err != nil {
		return nil, err
	}
	if !contains(strings.Fields(claims.Scope), scope) || !contains(found.scopes, scope) {
		return nil, refused{403, "Insufficient permissions"}
	}
	return found, nil
}

func (c *callers) verify(authorization string) (*claims, error) {
	scheme, token := cut(authorization, " ")
	if !strings.EqualFold(scheme, "bearer") || token == "" {
		return nil, refused{401, "Authorization header missing"}
	}
	invalid := refused{401, "Invalid or expired token"}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, invalid
	}
	var header struct {
		Algorithm string `json:"alg"`
	}
	if readPart(parts[0], &header) != nil || header.Algorithm != "HS256" {
		return nil, invalid
	}
	signed := hmac.New(sha256.New, c.secret)
	signed.Write([]byte(token[:len(parts[0])+1+len(parts[1])]))
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || !hmac.Equal(signature, signed.Sum(nil)) {
		return nil, invalid
	}
	told := new(claims)
	now := time.Now().Unix()
	if readPart(parts[1], told) != nil || told.Issuer != "monitoring-service" || told.Audience != "monitoring-api" ||
		told.Subject == "" || told.ID == "" || told.Expires <= now || told.IssuedAt > now {
		return nil, invalid
	}
	return told, nil
}

func (c *callers) find(ctx context.Context, clientID string) (*key, error) {
	if kept, ok := c.known.Load(clientID); ok && kept.(*key).until.After(time.Now()) {
		return kept.(*key), nil
	}
	found, scopes, usedAt := &key{clientID: clientID}, "", (*time.Time)(nil)
	err := c.pool.QueryRow(ctx, findKey, clientID).Scan(&found.team, &scopes, &found.name, &usedAt)
	if err == pgx.ErrNoRows {
		return nil, refused{401, "Invalid API key"}
	}
	if err == nil {
		err = json.Unmarshal([]byte(scopes), &found.scopes)
	}
	now := time.Now()
	if err == nil && (usedAt == nil || now.Sub(*usedAt) > time.Hour) {
		_, err = c.pool.Exec(ctx, useKey, clientID, now)
	}
	if err == nil && c.keepFor > 0 {
		found.until = now.Add(c.keepFor)
		c.known.Store(clientID, found)
	}
	return found, err
}

func (c *callers) count(writer http.ResponseWriter, clientID string) error {
	connection := c.redis.Get()
	defer connection.Close()
	told, err := redis.Ints(hit.Do(connection, "rate:"+clientID, windowSeconds*1000))
	if err != nil {
		return err
	}
	if told[0] > rateLimit {
		return refused{429, "Rate limit exceeded"}
	}
	seconds := (told[1] + 999) / 1000
	if seconds < 1 {
		seconds = 1
	}
	writer.Header()["RateLimit"] = []string{fmt.Sprintf(`"api";r=%d;t=%d`, rateLimit-told[0], seconds)}
	writer.Header()["RateLimit-Policy"] = []string{fmt.Sprintf(`"api";q=%d;w=%d`, rateLimit, windowSeconds)}
	return nil
}

func readPart(part string, into any) error {
	decoded, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return err
	}
	return json.Unmarshal(decoded, into)
}

func cut(text, separator string) (string, string) {
	before, after, _ := strings.Cut(text, separator)
	return before, after
}

func contains(texts []string, wanted string) bool {
	for _, text := range texts {
		if text == wanted {
			return true
		}
	}
	return false
}
