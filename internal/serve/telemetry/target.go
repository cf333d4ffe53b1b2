package telemetry

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// tracesPath is the default URL path for sending traces to a collector.
const tracesPath = "/v1/traces"

// exportTimeout is the default timeout for requests to the collector.
const exportTimeout = 10 * time.Second

// A Target specifies a collector and how to send traces to it.
type Target struct {
	URL     string
	Headers map[string]string // additional request headers; may contain secrets
	Timeout time.Duration
	Gzip    bool
	TLS     *tls.Config
}

// FindTarget returns the collector to send traces to. It returns nil if no collector is specified
// or if the environment disables traces. A configured URL overrides OTEL_TRACES_EXPORTER,
// OTEL_EXPORTER_OTLP_ENDPOINT and similar variables. It does not override OTEL_SDK_DISABLED, which
// always disables traces. The headers, the timeout, the compression and the TLS settings come from
// other OTEL_EXPORTER_OTLP_* variables.
func FindTarget(configured string, getenv func(string) string) (*Target, error) {
	env := environment(getenv)
	if strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") {
		return nil, nil
	}
	where, err := env.endpoint(configured)
	if err != nil || where == "" {
		return nil, err
	}
	t := &Target{URL: where, Timeout: exportTimeout}
	if t.Headers, err = env.headers(); err != nil {
		return nil, err
	}
	if ms := env.get("TIMEOUT"); ms != "" {
		n, err := strconv.Atoi(ms)
		if err != nil || n <= 0 {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_TIMEOUT is %q but must be a number of milliseconds", ms)
		}
		t.Timeout = time.Duration(n) * time.Millisecond
	}
	switch c := env.get("COMPRESSION"); c {
	case "", "none":
	case "gzip":
		t.Gzip = true
	default:
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_COMPRESSION is %q but must be gzip or none", c)
	}
	t.TLS, err = env.tls()
	return t, err
}

// client returns an HTTP client for the collector.
func (t *Target) client() *http.Client {
	return &http.Client{
		Timeout:       t.Timeout,
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: t.TLS, MaxIdleConns: 1, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // do not follow redirects, which could send the headers to another server
	}
}

// An environment reads OTEL_EXPORTER_OTLP_* variables. Variables that apply only to traces take
// precedence over those that apply to all signals.
type environment func(string) string

func (e environment) get(name string) string {
	return strings.TrimSpace(cmp.Or(e("OTEL_EXPORTER_OTLP_TRACES_"+name), e("OTEL_EXPORTER_OTLP_"+name)))
}

// endpoint returns the URL for sending traces. If no URL is configured, endpoint reads the URL from
// the environment. It then returns "" if the environment contains no URL or disables traces.
func (e environment) endpoint(configured string) (string, error) {
	if configured != "" {
		return endpointURL("telemetry.traces", configured, tracesPath)
	}
	if list := e("OTEL_TRACES_EXPORTER"); list != "" && !strings.Contains(list, "otlp") {
		return "", nil
	}
	name, base := "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", e("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	path := "/"
	if base == "" {
		name, base = "OTEL_EXPORTER_OTLP_ENDPOINT", e("OTEL_EXPORTER_OTLP_ENDPOINT")
		if base == "" {
			return "", nil
		}
		base, path = strings.TrimSuffix(base, "/")+tracesPath, tracesPath
	}
	if p := e.get("PROTOCOL"); p != "" && p != "http/protobuf" {
		return "", fmt.Errorf("%s is set and OTEL_EXPORTER_OTLP_PROTOCOL is %q: traces are sent by http/protobuf only; telemetry.traces names a collector for this proxy", name, p)
	}
	return endpointURL(name, base, path)
}

// endpointURL checks a URL chosen by the user. If the URL has no path, endpointURL adds the given
// one.
func endpointURL(name, value, path string) (string, error) {
	u, err := url.Parse(value)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("%s must be a URL like http://127.0.0.1:4318, not %q", name, value)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = path
	}
	return u.String(), nil
}

// headers returns the headers specified by two environment variables: the one for all signals, and
// the one for traces only.
func (e environment) headers() (map[string]string, error) {
	all := map[string]string{}
	for _, name := range [...]string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"} {
		some, err := parseHeaders(e(name))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		maps.Copy(all, some)
	}
	return all, nil
}

// parseHeaders parses a comma-separated list of key=value pairs with URL-escaped values. Its errors
// never quote a value.
func parseHeaders(list string) (map[string]string, error) {
	all := map[string]string{}
	for pair := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if key = strings.TrimSpace(key); !ok || key == "" || err != nil || strings.ContainsAny(key+value, "\r\n") {
			return nil, errors.New("it must be comma-separated key=value pairs")
		}
		all[key] = value
	}
	return all, nil
}

// tls returns a TLS configuration with the certificate files named by the variables, or nil if the
// variables are not set.
func (e environment) tls() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	roots, cert, key := e.get("CERTIFICATE"), e.get("CLIENT_CERTIFICATE"), e.get("CLIENT_KEY")
	if roots == "" && cert == "" && key == "" {
		return nil, nil
	}
	if roots != "" {
		pem, err := os.ReadFile(roots) //nolint:gosec // the operator chose the file
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %w", err)
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %s has no certificate", roots)
		}
	}
	if cert != "" || key != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
