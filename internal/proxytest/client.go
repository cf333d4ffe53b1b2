package proxytest

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
)

// A Client sends arbitrary bytes to the proxy and stores all messages that it receives. Its [Leg]
// determines the transport and the protocol revision.
type Client struct {
	*Site
	Leg          Leg
	Mail         *Mailbox
	Capabilities string // client capabilities as JSON
	Version      string // protocol version
	Bearer       string // token for HTTP; empty means [Token]

	in       *io.PipeWriter // nil unless the client uses stdio
	served   chan error     // receives the result of ServeStdio
	once     sync.Once
	HTTP     *http.Client
	Session  string
	requests sync.WaitGroup
	lastID   atomic.Int64

	mu      sync.Mutex
	cancels map[string]context.CancelFunc // functions that cancel requests over HTTP, keyed by request ID
}

// CanElicit is the capability of a client that can show forms.
const CanElicit = `{"elicitation":{}}`

// Connect returns a connected client that declares the given capabilities, or none if capabilities
// is empty.
func (s *Site) Connect(l Leg, capabilities string) *Client {
	s.T.Helper()
	c := s.UnconnectedClient(l)
	if capabilities != "" {
		c.Capabilities = capabilities
	}
	if !l.Modern {
		c.Initialize()
	}
	return c
}

// UnconnectedClient returns a client that has not sent anything yet.
func (s *Site) UnconnectedClient(l Leg) *Client {
	c := &Client{
		Site: s, Leg: l, Mail: newMailbox(), Capabilities: "{}", Version: "2025-11-25",
		HTTP: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}, cancels: map[string]context.CancelFunc{},
	}
	if l.Modern {
		c.Version = "2026-07-28"
	}
	s.T.Cleanup(c.Close)
	if !l.HTTP {
		c.pipe()
	}
	return c
}

// pipe connects the client over two pipes.
func (c *Client) pipe() {
	in, inWriter := io.Pipe()
	outReader, out := io.Pipe()
	c.in, c.served = inWriter, make(chan error, 1)
	serve := c.Upstream.ServeStdio
	if !c.bare {
		serve = c.Proxy.ServeStdio
	}
	go func() {
		err := serve(context.WithoutCancel(c.T.Context()), in, out)
		_ = out.Close()
		c.served <- err
	}()
	go c.readMessages(outReader, "", 0, "")
}

// Initialize performs the initialize handshake.
func (c *Client) Initialize() {
	c.T.Helper()
	id := c.Sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"initialize","params":{"protocolVersion":"` + c.Version +
		`","capabilities":` + c.Capabilities + `,"clientInfo":` + c.Info() + `}}`)
	r := c.Reply(id)
	if r.Result == nil {
		c.T.Fatalf("initialize: %s", r.Raw)
	}
	c.Session = r.Session
	c.Send([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`), nil)
	c.awaitAccepted()
}

// Close disconnects the client and waits until its open requests have ended.
func (c *Client) Close() {
	c.once.Do(func() {
		if c.in != nil {
			_ = c.in.Close()
			<-c.served //nolint:errcheck // only wait for the end
		}
		if c.Session != "" {
			if response, err := c.HTTP.Do(c.newRequest(context.Background(), http.MethodDelete, "")); err == nil {
				_ = response.Body.Close()
			}
		}
		c.mu.Lock()
		for _, cancel := range c.cancels {
			cancel()
		}
		c.mu.Unlock()
		c.requests.Wait()
		c.HTTP.CloseIdleConnections()
	})
}

// CountFrom sets the ID of the last request to n, so that the next request has the ID n+1.
func (c *Client) CountFrom(n int) { c.lastID.Store(int64(n)) }

// nextID returns an unused request ID as JSON.
func (c *Client) nextID() string { return strconv.FormatInt(c.lastID.Add(1), 10) }

// Meta returns a _meta member for the beginning of a request's params, followed by a comma. The
// object contains the given members and the members that the revision requires. If there are no
// members, Meta returns the empty string.
func (c *Client) Meta(extra string) string {
	var members []string
	if c.Leg.Modern {
		members = append(members, `"io.modelcontextprotocol/protocolVersion":"`+c.Version+`"`,
			`"io.modelcontextprotocol/clientCapabilities":`+c.Capabilities,
			`"io.modelcontextprotocol/clientInfo":`+c.Info())
	}
	if extra != "" {
		members = append(members, extra)
	}
	if len(members) == 0 {
		return ""
	}
	return `"_meta":{` + strings.Join(members, ",") + `},`
}

// Info returns the client's name and version as a clientInfo object.
func (c *Client) Info() string {
	name, _ := json.Marshal(c.ClientName)
	return `{"name":` + string(name) + `,"version":"1"}`
}

// Fill fills in a message template. It replaces %ID% with a new ID, and %META% with the _meta
// required by the revision.
func (c *Client) Fill(template string) (raw []byte, id string) {
	id = c.nextID()
	template = strings.ReplaceAll(template, "%ID%", id)
	return []byte(strings.ReplaceAll(template, "%META%", c.Meta(""))), id
}

// Sendf fills in a template and sends the message.
func (c *Client) Sendf(template string) (id string) {
	raw, id := c.Fill(template)
	c.Send(raw, nil)
	return id
}

// Call sends a tools/call request and returns its ID.
func (c *Client) Call(tool, args string) (id string) { return c.CallWith(tool, args, "", "") }

// CallWith is like [Client.Call], but adds the given members to _meta and to the request's params.
// The members for the params must begin with a comma, as in ,"task":{}.
func (c *Client) CallWith(tool, args, meta, params string) (id string) {
	name, _ := json.Marshal(tool)
	id = c.nextID()
	if args != "" {
		args = `,"arguments":` + args
	}
	c.Send([]byte(`{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{`+c.Meta(meta)+`"name":`+string(name)+args+params+`}}`), nil)
	return id
}

// Do makes a call to a tool and waits for the response.
func (c *Client) Do(tool, args string) Message { return c.Reply(c.Call(tool, args)) }

// Must makes a call to a tool and waits for the response. It fails the test unless the call
// succeeds.
func (c *Client) Must(tool, args string) Message {
	c.T.Helper()
	r := c.Do(tool, args)
	if r.Result == nil || r.IsError() {
		c.T.Fatalf("%s %s: %s", tool, args, r.Raw)
	}
	return r
}

// List requests the list of tools.
func (c *Client) List() Message {
	return c.Reply(c.Sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"tools/list","params":{%META%"x":0}}`))
}

// Send sends a raw message unchanged. Over HTTP, it sets the same headers as a correct client;
// headers in the second argument take precedence. Responses arrive in the client's mailbox.
func (c *Client) Send(raw []byte, change http.Header) {
	if c.in != nil {
		_, _ = c.in.Write(append(bytes.Clone(raw), '\n')) // the error is ignored: if the proxy no longer reads, the test fails because it receives no response
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Site.HTTP.URL+"/mcp", bytes.NewReader(raw))
	if err != nil {
		c.T.Error(err)
	}
	m := ParseMessage(raw, 0)
	c.mu.Lock()
	c.cancels[m.ID] = cancel
	c.mu.Unlock()
	c.SetHeaders(r)
	c.StandardHeaders(r, raw)
	for name, values := range change {
		r.Header[name] = values
	}
	c.requests.Go(func() {
		defer cancel()
		c.post(r)
	})
}

// newRequest returns a request without a body, with the headers of a correct client. If the last
// argument is not empty, newRequest also sets the Last-Event-ID header.
func (c *Client) newRequest(ctx context.Context, method, last string) *http.Request {
	c.T.Helper()
	r, err := http.NewRequestWithContext(ctx, method, c.Site.HTTP.URL+"/mcp", http.NoBody)
	if err != nil {
		c.T.Fatal(err)
	}
	c.SetHeaders(r)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	return r
}

// SetHeaders sets the headers that a correct client sends.
func (c *Client) SetHeaders(r *http.Request) {
	r.Header.Set("Authorization", "Bearer "+cmp.Or(c.Bearer, Token))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if c.Session != "" {
		r.Header.Set("Mcp-Session-Id", c.Session)
	}
	if c.Leg.Modern || c.Session != "" {
		r.Header.Set("Mcp-Protocol-Version", c.Version)
	}
}

// StandardHeaders sets the headers Mcp-Method and Mcp-Name if the client uses revision 2026-07-28,
// which requires them. It derives their values from the message in raw, which may be invalid.
func (c *Client) StandardHeaders(r *http.Request, raw []byte) {
	if !c.Leg.Modern {
		return
	}
	var m struct {
		Method string
		Params struct{ Name, URI, TaskID string }
	}
	_ = json.Unmarshal(raw, &m)
	r.Header.Set("Mcp-Method", m.Method)
	if m.Method == "resources/read" {
		m.Params.Name = m.Params.URI
	}
	if strings.HasPrefix(m.Method, "tasks/") {
		m.Params.Name = m.Params.TaskID
	}
	if name, ok := mcp.EncodeHeaderValue(m.Params.Name); ok && m.Params.Name != "" {
		r.Header.Set("Mcp-Name", name)
	}
}

// post sends a request and puts each message of the response into the mailbox.
func (c *Client) post(r *http.Request) {
	response, err := c.HTTP.Do(r)
	if err != nil {
		return // a test that waits for the response will fail anyway
	}
	defer func() { _ = response.Body.Close() }()
	session := response.Header.Get("Mcp-Session-Id")
	if response.Header.Get("Content-Type") != "text/event-stream" {
		body, _ := io.ReadAll(response.Body)
		m := ParseMessage(body, response.StatusCode)
		m.Session = session
		c.Mail.put(m)
		return
	}
	c.readMessages(response.Body, "data: ", response.StatusCode, session)
}

// readMessages puts the messages in body, one per line, into the mailbox. It removes the given
// prefix from each line, and ignores lines without it.
func (c *Client) readMessages(body io.Reader, prefix string, status int, session string) {
	for lines := bufio.NewReader(body); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		if data, ok := bytes.CutPrefix(line, []byte(prefix)); ok {
			m := ParseMessage(bytes.TrimSuffix(data, []byte("\n")), status)
			m.Session = session
			c.Mail.put(m)
		}
	}
}

// ListenToPushes opens the GET stream of an HTTP session.
func (c *Client) ListenToPushes() {
	if !c.Leg.HTTP || c.Leg.Modern {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.mu.Lock()
	c.cancels["GET"] = cancel
	c.mu.Unlock()
	response, err := c.HTTP.Do(c.newRequest(ctx, http.MethodGet, ""))
	if err != nil || response.StatusCode != http.StatusOK {
		c.T.Fatalf("opening the GET stream: %v, %v", response, err)
	}
	c.requests.Go(func() {
		defer func() { _ = response.Body.Close() }()
		c.readMessages(response.Body, "data: ", 0, "")
	})
}

// Resume requests the rest of an interrupted stream. The argument last is the ID of the last event
// received.
func (c *Client) Resume(last string) {
	c.T.Helper()
	r := c.newRequest(context.Background(), http.MethodGet, last)
	c.requests.Go(func() { c.post(r) })
}

// Cancel cancels a request in the way that the client's transport and revision prescribe.
func (c *Client) Cancel(id string) {
	if c.Leg.HTTP && c.Leg.Modern {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.cancels[id]()
		return
	}
	c.Send([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`}}`), nil)
}

// Reply waits for the response to the request with the given ID.
func (c *Client) Reply(id string) Message {
	c.T.Helper()
	return c.Await("the reply to "+id, func(m Message) bool { return m.Method == "" && m.ID == id })
}

// Await removes the first message that satisfies ok from the mailbox and returns it. If necessary,
// it waits for the message.
func (c *Client) Await(what string, ok func(Message) bool) Message {
	c.T.Helper()
	m, found := c.Mail.take(ok)
	if !found {
		c.T.Fatalf("waited in vain for %s; there is: %s", what, c.Mail)
	}
	return m
}

// Request sends a request and waits for the response. The params are JSON members without the
// enclosing braces and without _meta.
func (c *Client) Request(method, params string) Message {
	c.T.Helper()
	return c.Reply(c.Ask(method, params))
}

// Ask sends a request and returns its ID without waiting for the response. The params are JSON
// members without the enclosing braces and without _meta.
func (c *Client) Ask(method, params string) (id string) {
	return c.Sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"` + method + `","params":{%META%` + params + `}}`)
}

// StatusText returns the text of the resource petrigate://status, which describes the client's own
// status.
func (c *Client) StatusText() string {
	c.T.Helper()
	r := c.Request("resources/read", `"uri":"petrigate://status"`)
	var result struct {
		Contents []struct{ URI, MimeType, Text string }
	}
	if json.Unmarshal(r.Result, &result) != nil || len(result.Contents) != 1 || result.Contents[0].MimeType != "text/markdown" || result.Contents[0].URI != "petrigate://status" {
		c.T.Fatalf("%s", r.Raw)
	}
	if (Member(r.Result, "resultType") == `"complete"`) != c.Leg.Modern {
		c.T.Errorf("the result is of the other era: %s", r.Raw)
	}
	return result.Contents[0].Text
}

// Leave cancels the requests with the given IDs, so that their responses use no memory. Over stdio,
// Leave does nothing.
func (c *Client) Leave(ids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		if cancel := c.cancels[id]; cancel != nil {
			cancel()
		}
	}
}
