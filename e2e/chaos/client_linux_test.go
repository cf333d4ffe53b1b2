package chaos

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// A client is a session with petrigate.
type client interface {
	// request sends a request and waits for the answer. If ctx ends, the request is canceled and no
	// answer is returned.
	request(ctx context.Context, id int, method, tool, params string) (reply, error)
	close() error
}

// A reply is the answer to a request.
type reply struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

const (
	legacyVersion = "2025-06-18"
	modernVersion = "2026-07-28"
	modernMeta    = `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + modernVersion +
		`","io.modelcontextprotocol/clientCapabilities":{},"progressToken":%d,"io.modelcontextprotocol/logLevel":"debug"}`
	legacyMeta = `"_meta":{"progressToken":%d}`
	handshake  = `"protocolVersion":"` + legacyVersion + `","capabilities":{},"clientInfo":{"name":"chaos","version":"1"}`
)

// message returns a request. params contains the members of its params.
func message(id int, method, params string, modern bool) string {
	meta := fmt.Sprintf(legacyMeta, id)
	if modern {
		meta = fmt.Sprintf(modernMeta, id)
	}
	if params != "" {
		params = "," + params
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s%s}}`, id, method, meta, params)
}

// errWrong means that the proxy has done something that a correct proxy never does, regardless of
// its upstreams.
var errWrong = errors.New("a wrong answer")

// An httpClient is a client over HTTP that uses either revision family.
type httpClient struct {
	url     string
	modern  bool
	session string
	http    *http.Client
}

func dialHTTP(ctx context.Context, url string, modern bool) (*httpClient, error) {
	// A server may close a connection that has been idle for too long. This must not happen while a
	// request is being sent.
	transport := &http.Transport{MaxIdleConnsPerHost: 8, IdleConnTimeout: 3 * time.Second}
	c := &httpClient{url: url, modern: modern, http: &http.Client{Transport: transport}}
	if modern {
		return c, nil
	}
	if _, err := c.request(ctx, 0, "initialize", "", handshake); err != nil {
		return nil, fmt.Errorf("opening a session: %w", err)
	}
	resp, err := c.send(ctx, http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil)
	if err != nil {
		return nil, fmt.Errorf("opening a session: %w", err)
	}
	return c, resp.Body.Close()
}

func (c *httpClient) send(ctx context.Context, method, body string, header map[string]string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
		r.Header.Set("MCP-Protocol-Version", legacyVersion)
	}
	for k, v := range header {
		r.Header.Set(k, v)
	}
	return c.http.Do(r)
}

func (c *httpClient) request(ctx context.Context, id int, method, tool, params string) (reply, error) {
	header := map[string]string{}
	if c.modern {
		header["MCP-Protocol-Version"], header["Mcp-Method"] = modernVersion, method
		if tool != "" {
			header["Mcp-Name"] = tool
		}
	}
	resp, err := c.send(ctx, http.MethodPost, message(id, method, params, c.modern), header)
	if err != nil {
		if ctx.Err() != nil && !c.modern {
			c.cancelled(id)
		}
		return reply{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	if s := resp.Header.Get("Mcp-Session-Id"); s != "" {
		c.session = s
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return reply{}, err
	}
	return only(body, id, strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream"))
}

// cancelled notifies the server of a cancellation, as the older revision family requires.
func (c *httpClient) cancelled(id int) {
	resp, err := c.send(context.Background(), http.MethodPost,
		fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id), nil)
	if err == nil {
		_ = resp.Body.Close()
	}
}

// only returns the only answer in a body, which may also contain notifications.
func only(body []byte, id int, stream bool) (reply, error) {
	messages := [][]byte{body}
	if stream {
		messages = nil
		for line := range bytes.Lines(body) {
			if data, ok := bytes.CutPrefix(line, []byte("data:")); ok && len(bytes.TrimSpace(data)) > 0 {
				messages = append(messages, data)
			}
		}
	}
	var answers []reply
	for _, m := range messages {
		var r reply
		if err := json.Unmarshal(m, &r); err != nil {
			return reply{}, fmt.Errorf("%w: %v: %.200q", errWrong, err, m)
		}
		if r.Method == "" {
			answers = append(answers, r)
		}
	}
	if len(answers) != 1 || string(answers[0].ID) != fmt.Sprint(id) {
		return reply{}, fmt.Errorf("%w: %d answers to request %d: %.400q", errWrong, len(answers), id, body)
	}
	return answers[0], nil
}

func (c *httpClient) close() error {
	defer c.http.CloseIdleConnections()
	if c.session == "" {
		return nil
	}
	resp, err := c.send(context.Background(), http.MethodDelete, "", nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// lines calls f for each line of in that contains a message.
func lines(in io.Reader, f func(line []byte)) {
	for r := bufio.NewReader(in); ; {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		f(line)
	}
}
