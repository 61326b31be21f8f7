package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

var (
	urls = regexp.MustCompile(
		`^https?://(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9][A-Za-z0-9._-]{0,253})(:[0-9]{1,5})?([/?][^\s#]*)?$`)
	statusCodes = regexp.MustCompile(`^([1-5][0-9]{2}|[1-5]xx|[1-5][0-9]{2}-[1-5][0-9]{2})$`)
	headerNames = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)
	tagNames    = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,39}$`)
	methods     = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
	sources     = []string{"json", "header", "body", "first_byte_ms"}
	comparisons = []string{"equals", "not_equals", "contains", "not_contains", "greater_than", "less_than"}
	reserved    = []string{"accept-encoding", "connection", "content-length", "expect", "host", "te", "upgrade"}
)

// configuration is what a client may say. A null of a field that cannot be null is taken for one left out.
type configuration struct {
	Name                 string            `json:"name"`
	Type                 string            `json:"type"`
	URL                  string            `json:"url"`
	Method               string            `json:"method"`
	RequestHeaders       map[string]string `json:"request_headers"`
	RequestBody          *string           `json:"request_body"`
	ExpectedStatusCodes  []string          `json:"expected_status_codes"`
	RequiredKeyword      *string           `json:"required_keyword"`
	ForbiddenKeyword     *string           `json:"forbidden_keyword"`
	Assertions           []assertion       `json:"assertions"`
	Contract             map[string]any    `json:"contract"`
	IntervalSeconds      int32             `json:"interval_seconds"`
	TimeoutSeconds       int32             `json:"timeout_seconds"`
	FollowRedirects      bool              `json:"follow_redirects"`
	VerifyTLS            bool              `json:"verify_tls"`
	CertificateAuthority *string           `json:"certificate_authority"`
	ClientCertificate    *string           `json:"client_certificate"`
	TLSExpiryWarningDays int32             `json:"tls_expiry_warning_days"`
	SlowThresholdMS      *int32            `json:"slow_threshold_ms"`
	FailureThreshold     int32             `json:"failure_threshold"`
	RecoveryThreshold    int32             `json:"recovery_threshold"`
	RetryIntervalSeconds int32             `json:"retry_interval_seconds"`
	Paused               bool              `json:"paused"`
	Tags                 []string          `json:"tags"`
}

type assertion struct {
	Source     string  `json:"source"`
	Comparison string  `json:"comparison"`
	Path       *string `json:"path,omitempty"`
	Name       *string `json:"name,omitempty"`
	Value      any     `json:"value,omitempty"`
}

// monitor is a row. What is JSON in the database stays as it is.
type monitor struct {
	configuration
	id                                    [16]byte
	key                                   *string
	headers, codes, assertions, tags      []byte
	contract                              *string // JSON
	status                                string
	statusChangedAt, createdAt, updatedAt time.Time
	lastCheckedAt, nextCheckAt            *time.Time
	lastResponseTimeMS                    *int32
	lastError                             *string
	mute                                  *string // JSON
	version                               int32
}

func readConfiguration(body io.Reader) (*configuration, error) {
	c := &configuration{
		Type: "http", Method: "GET", ExpectedStatusCodes: []string{"2xx"}, IntervalSeconds: 300, TimeoutSeconds: 15,
		FollowRedirects: true, VerifyTLS: true, TLSExpiryWarningDays: 14, FailureThreshold: 2, RecoveryThreshold: 2,
		RetryIntervalSeconds: 10,
	}
	reader := json.NewDecoder(body)
	reader.DisallowUnknownFields()
	if reader.Decode(c) != nil || reader.More() {
		return nil, refused{400, "must be a JSON object with known fields only"}
	}
	if c.Name == "" {
		if parsed, err := url.Parse(c.URL); err == nil {
			c.Name = parsed.Hostname()
		}
	}
	if wrong := c.findWrong(); wrong != "" {
		return nil, refused{400, wrong + ": must be as the document says"}
	}
	return c, nil
}

func (c *configuration) findWrong() string {
	within := func(number, low, high int32) bool { return low <= number && number <= high }
	short := func(text *string, most int) bool { return text == nil || utf8.RuneCountInString(*text) <= most }
	isWithoutBody := c.Method == "GET" || c.Method == "HEAD"
	for _, rule := range []struct {
		field string
		holds bool
	}{
		{"url", len(c.URL) <= 2048 && urls.MatchString(c.URL)},
		{"name", short(&c.Name, 100) && strings.TrimSpace(c.Name) != ""},
		{"type", c.Type == "http"},
		{"method", contains(methods, c.Method)},
		{"request_headers", areHeaders(c.RequestHeaders)},
		{"request_body", short(c.RequestBody, 8192) && !(isWithoutBody && c.RequestBody != nil)},
		{"expected_status_codes", areStatusCodes(c.ExpectedStatusCodes)},
		{"required_keyword", short(c.RequiredKeyword, 255) && !(c.Method == "HEAD" && c.RequiredKeyword != nil)},
		{"forbidden_keyword", short(c.ForbiddenKeyword, 255) && !(c.Method == "HEAD" && c.ForbiddenKeyword != nil)},
		{"assertions", areAssertions(c.Assertions)},
		{"certificate_authority", short(c.CertificateAuthority, 65536)},
		{"client_certificate", short(c.ClientCertificate, 65536)},
		{"interval_seconds", within(c.IntervalSeconds, 30, 86400)},
		{"timeout_seconds", within(c.TimeoutSeconds, 1, 60) && c.TimeoutSeconds < c.IntervalSeconds},
		{"tls_expiry_warning_days", within(c.TLSExpiryWarningDays, 0, 90)},
		{"slow_threshold_ms", c.SlowThresholdMS == nil || within(*c.SlowThresholdMS, 1, 60000)},
		{"failure_threshold", within(c.FailureThreshold, 1, 10)},
		{"recovery_threshold", within(c.RecoveryThreshold, 1, 10)},
		{"retry_interval_seconds", within(c.RetryIntervalSeconds, 5, 3600)},
		{"tags", areTags(c.Tags)},
	} {
		if !rule.holds {
			return rule.field
		}
	}
	return ""
}

func areHeaders(headers map[string]string) bool {
	seen := map[string]bool{}
	for name, value := range headers {
		lower := strings.ToLower(name)
		if seen[lower] || contains(reserved, lower) || !headerNames.MatchString(name) || len(value) > 2048 {
			return false
		}
		seen[lower] = true
	}
	return len(headers) <= 20
}

func areStatusCodes(codes []string) bool {
	for _, code := range codes {
		if low, high := cut(code, "-"); !statusCodes.MatchString(code) || high != "" && low > high {
			return false
		}
	}
	return 1 <= len(codes) && len(codes) <= 10
}

func areAssertions(assertions []assertion) bool {
	for _, each := range assertions {
		if !contains(sources, each.Source) || !contains(comparisons, each.Comparison) || len(assertions) > 10 {
			return false
		}
	}
	return true
}

func areTags(tags []string) bool {
	for number, tag := range tags {
		if !tagNames.MatchString(tag) || contains(tags[:number], tag) {
			return false
		}
	}
	return len(tags) <= 10
}

func (m *monitor) appendJSON(to []byte) []byte {
	to = append(appendUUID(append(to, `{"id":"`...), m.id), '"')
	to = appendText(append(to, `,"key":`...), m.key)
	to = appendString(append(to, `,"name":`...), m.Name)
	to = appendString(append(to, `,"type":`...), m.Type)
	to = appendString(append(to, `,"url":`...), m.URL)
	to = appendString(append(to, `,"method":`...), m.Method)
	to = append(append(to, `,"request_headers":`...), m.headers...)
	to = appendText(append(to, `,"request_body":`...), m.RequestBody)
	to = append(append(to, `,"expected_status_codes":`...), m.codes...)
	to = appendText(append(to, `,"required_keyword":`...), m.RequiredKeyword)
	to = appendText(append(to, `,"forbidden_keyword":`...), m.ForbiddenKeyword)
	to = append(append(to, `,"assertions":`...), m.assertions...)
	to = appendJSONText(append(to, `,"contract":`...), m.contract)
	to = strconv.AppendInt(append(to, `,"interval_seconds":`...), int64(m.IntervalSeconds), 10)
	to = strconv.AppendInt(append(to, `,"timeout_seconds":`...), int64(m.TimeoutSeconds), 10)
	to = strconv.AppendBool(append(to, `,"follow_redirects":`...), m.FollowRedirects)
	to = strconv.AppendBool(append(to, `,"verify_tls":`...), m.VerifyTLS)
	to = appendText(append(to, `,"certificate_authority":`...), m.CertificateAuthority)
	to = appendText(append(to, `,"client_certificate":`...), m.ClientCertificate)
	to = strconv.AppendInt(append(to, `,"tls_expiry_warning_days":`...), int64(m.TLSExpiryWarningDays), 10)
	to = appendNumber(append(to, `,"slow_threshold_ms":`...), m.SlowThresholdMS)
	to = strconv.AppendInt(append(to, `,"failure_threshold":`...), int64(m.FailureThreshold), 10)
	to = strconv.AppendInt(append(to, `,"recovery_threshold":`...), int64(m.RecoveryThreshold), 10)
	to = strconv.AppendInt(append(to, `,"retry_interval_seconds":`...), int64(m.RetryIntervalSeconds), 10)
	to = strconv.AppendBool(append(to, `,"paused":`...), m.Paused)
	to = append(append(to, `,"tags":`...), m.tags...)
	to = appendString(append(to, `,"status":`...), m.status)
	to = appendMoment(append(to, `,"status_changed_at":`...), &m.statusChangedAt)
	to = appendMoment(append(to, `,"last_checked_at":`...), m.lastCheckedAt)
	to = appendMoment(append(to, `,"next_check_at":`...), m.nextCheckAt)
	to = appendNumber(append(to, `,"last_response_time_ms":`...), m.lastResponseTimeMS)
	to = appendText(append(to, `,"last_error":`...), m.lastError)
	to = appendJSONText(append(to, `,"mute":`...), m.mute)
	to = appendMoment(append(to, `,"created_at":`...), &m.createdAt)
	return append(appendMoment(append(to, `,"updated_at":`...), &m.updatedAt), '}')
}

func appendString(to []byte, text string) []byte {
	for at := 0; at < len(text); at++ {
		if text[at] < ' ' || text[at] == '"' || text[at] == '\\' {
			return append(to, writeJSON(text)...)
		}
	}
	return append(append(append(to, '"'), text...), '"')
}

func appendText(to []byte, text *string) []byte {
	if text == nil {
		return append(to, "null"...)
	}
	return appendString(to, *text)
}

func appendJSONText(to []byte, text *string) []byte {
	if text == nil {
		return append(to, "null"...)
	}
	return append(to, *text...)
}

func appendNumber(to []byte, number *int32) []byte {
	if number == nil {
		return append(to, "null"...)
	}
	return strconv.AppendInt(to, int64(*number), 10)
}

func appendMoment(to []byte, moment *time.Time) []byte {
	if moment == nil {
		return append(to, "null"...)
	}
	return moment.UTC().AppendFormat(to, `"2006-01-02T15:04:05.000000Z"`)
}

func writeTexts(texts []string) []byte {
	if texts == nil {
		return []byte("[]")
	}
	return writeJSON(texts)
}

func writeAssertions(assertions []assertion) []byte {
	if assertions == nil {
		return []byte("[]")
	}
	return writeJSON(assertions)
}

func writeContract(contract map[string]any) *string {
	if contract == nil {
		return nil
	}
	text := string(writeJSON(contract))
	return &text
}

func writeHeaders(headers map[string]string) []byte {
	if headers == nil {
		return []byte("{}")
	}
	return writeJSON(headers)
}

func writeJSON(value any) []byte {
	var written bytes.Buffer
	encoder := json.NewEncoder(&written)
	encoder.SetEscapeHTML(false)
	encoder.Encode(value) // these types cannot fail
	return bytes.TrimSuffix(written.Bytes(), []byte("\n"))
}
