package proxy_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/petrigate/petrigate/internal/soak"
)

// A leg is one of the four ways to the gate. A rule that applies only on one of them is a hole, so
// every case runs on all.
type leg struct {
	name         string
	http, modern bool
}

// legs returns all legs.
func legs() []leg {
	return []leg{{"stdio", false, false}, {"http", true, false}, {"http-modern", true, true}, {"stdio-modern", false, true}}
}

// eachLeg runs f on each leg or, under the race detector, which takes five times as long, on one of
// each transport and family. .ci/soak runs all of them.
func eachLeg(t *testing.T, f func(t *testing.T, l leg)) {
	all := legs()
	if soak.Race && os.Getenv(soak.Variable) == "" {
		all = []leg{all[1], all[3]}
	}
	for _, l := range all {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel() // legs share nothing, and mostly wait
			f(t, l)
		})
	}
}

// legacyLegs are those with a handshake.
func legacyLegs(t *testing.T, f func(t *testing.T, l leg)) {
	for _, l := range legs()[:2] {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			f(t, l)
		})
	}
}

// modernLegs are those of revision 2026-07-28.
func modernLegs(t *testing.T, f func(t *testing.T, l leg)) {
	for _, l := range legs()[2:] {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			f(t, l)
		})
	}
}

// A client sends arbitrary bytes on one leg and keeps all messages that come back.
type client struct {
	*site
	leg          leg
	mail         *mailbox
	capabilities string // JSON
	version      string // protocol version
	bearer       string // token over HTTP; empty: the token of the tests

	in       *io.PipeWriter // stdio
	served   chan error     // result of ServeStdio
	once     sync.Once
	http     *http.Client
	session  string
	requests sync.WaitGroup

	mu      sync.Mutex
	lastID  int
	cancels map[string]context.CancelFunc // cancel functions of requests over HTTP, by id
}

// canElicit is the capabilities of a client with forms.
const canElicit = `{"elicitation":{}}`

// connect opens a client that declares the capabilities, none if empty.
func (s *site) connect(l leg, capabilities string) *client {
	s.t.Helper()
	c := s.unconnected(l)
	if capabilities != "" {
		c.capabilities = capabilities
	}
	if !l.modern {
		c.initialize()
	}
	return c
}

// unconnected returns a client that has sent nothing yet.
func (s *site) unconnected(l leg) *client {
	c := &client{
		site: s, leg: l, mail: newMailbox(), capabilities: "{}", version: "2025-11-25",
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}, cancels: map[string]context.CancelFunc{},
	}
	if l.modern {
		c.version = "2026-07-28"
	}
	s.t.Cleanup(c.close)
	if !l.http {
		c.pipe()
	}
	return c
}

// pipe serves the client over a pair of pipes.
func (c *client) pipe() {
	in, inWriter := io.Pipe()
	outReader, out := io.Pipe()
	c.in, c.served = inWriter, make(chan error, 1)
	serve := c.upstream.ServeStdio
	if !c.bare {
		serve = c.proxy.ServeStdio
	}
	go func() {
		err := serve(context.WithoutCancel(c.t.Context()), in, out)
		_ = out.Close()
		c.served <- err
	}()
	go func() {
		r := bufio.NewReader(outReader)
		for {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			c.mail.put(parseMessage(bytes.TrimSuffix(line, []byte("\n")), 0))
		}
	}()
}

// initialize performs the handshake.
func (c *client) initialize() {
	c.t.Helper()
	id := c.sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"initialize","params":{"protocolVersion":"` + c.version +
		`","capabilities":` + c.capabilities + `,"clientInfo":` + c.info() + `}}`)
	r := c.reply(id)
	if r.result == nil {
		c.t.Fatalf("initialize: %s", r.raw)
	}
	c.session = r.session
	c.send([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`), nil)
	if c.leg.http {
		c.await("202", func(m message) bool { return m.status == http.StatusAccepted })
	}
}

// close disconnects the client and waits for its open requests.
func (c *client) close() {
	c.once.Do(func() {
		if c.in != nil {
			_ = c.in.Close()
			<-c.served
		}
		if c.session != "" {
			r, err := http.NewRequest(http.MethodDelete, c.site.http.URL+"/mcp", nil)
			if err != nil {
				c.t.Error(err)
				return
			}
			c.setHeaders(r)
			if response, err := c.http.Do(r); err == nil {
				_ = response.Body.Close()
			}
		}
		c.mu.Lock()
		for _, cancel := range c.cancels {
			cancel()
		}
		c.mu.Unlock()
		c.requests.Wait()
		c.http.CloseIdleConnections()
	})
}

// countFrom makes n the last id that was used.
func (c *client) countFrom(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastID = n
}

// nextID returns a new id in its JSON form.
func (c *client) nextID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastID++
	return strconv.Itoa(c.lastID)
}

// meta returns the _meta member of params and a comma: the members required by the revision, and
// extra ones.
func (c *client) meta(extra string) string {
	var members []string
	if c.leg.modern {
		members = append(members, `"io.modelcontextprotocol/protocolVersion":"`+c.version+`"`,
			`"io.modelcontextprotocol/clientCapabilities":`+c.capabilities,
			`"io.modelcontextprotocol/clientInfo":`+c.info())
	}
	if extra != "" {
		members = append(members, extra)
	}
	if len(members) == 0 {
		return ""
	}
	return `"_meta":{` + strings.Join(members, ",") + `},`
}

// info returns the client's description of itself.
func (c *client) info() string {
	name, _ := json.Marshal(c.clientName)
	return `{"name":` + string(name) + `,"version":"1"}`
}

// fill replaces %ID% by a fresh id and %META% by the _meta of the revision.
func (c *client) fill(template string) (raw []byte, id string) {
	id = c.nextID()
	template = strings.ReplaceAll(template, "%ID%", id)
	return []byte(strings.ReplaceAll(template, "%META%", c.meta(""))), id
}

// sendf fills a template and sends it with the matching headers.
func (c *client) sendf(template string) (id string) {
	raw, id := c.fill(template)
	c.send(raw, nil)
	return id
}

// call sends a tools/call and returns its id.
func (c *client) call(tool, args string) (id string) { return c.callWith(tool, args, "", "") }

// callWith sends a call with extra members of _meta and of params, the latter with a leading comma.
func (c *client) callWith(tool, args, meta, params string) (id string) {
	name, _ := json.Marshal(tool)
	id = c.nextID()
	if args != "" {
		args = `,"arguments":` + args
	}
	c.send([]byte(`{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{`+c.meta(meta)+`"name":`+string(name)+args+params+`}}`), nil)
	return id
}

// do calls a tool and waits for the reply.
func (c *client) do(tool, args string) message { return c.reply(c.call(tool, args)) }

// must calls a tool, which must succeed.
func (c *client) must(tool, args string) message {
	c.t.Helper()
	r := c.do(tool, args)
	if r.result == nil || r.isError() {
		c.t.Fatalf("%s %s: %s", tool, args, r.raw)
	}
	return r
}

// list requests the tools.
func (c *client) list() message {
	return c.reply(c.sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"tools/list","params":{%META%"x":0}}`))
}

// send sends bytes unchanged. Over HTTP the headers are those of a correct client, with changes on
// top; responses arrive in the mailbox.
func (c *client) send(raw []byte, change http.Header) {
	if c.in != nil {
		_, _ = c.in.Write(append(bytes.Clone(raw), '\n')) // a proxy that does not read any more is noticed by the missing answer
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.site.http.URL+"/mcp", bytes.NewReader(raw))
	if err != nil {
		c.t.Error(err)
	}
	m := parseMessage(raw, 0)
	c.mu.Lock()
	c.cancels[m.id] = cancel
	c.mu.Unlock()
	c.setHeaders(r)
	c.standardHeaders(r, raw)
	for name, values := range change {
		r.Header[name] = values
	}
	c.requests.Add(1)
	go func() {
		defer c.requests.Done()
		defer cancel()
		c.post(r)
	}()
}

// setHeaders sets the headers of a correct client.
func (c *client) setHeaders(r *http.Request) {
	r.Header.Set("Authorization", "Bearer "+cmp.Or(c.bearer, token))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
	}
	if c.leg.modern || c.session != "" {
		r.Header.Set("Mcp-Protocol-Version", c.version)
	}
}

// standardHeaders returns the headers of revision 2026-07-28, read leniently from a possibly
// invalid message.
func (c *client) standardHeaders(r *http.Request, raw []byte) {
	if !c.leg.modern {
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

// post sends r and puts the response into the mailbox.
func (c *client) post(r *http.Request) {
	response, err := c.http.Do(r)
	if err != nil {
		return // cancelled; the waiting test reports it
	}
	defer func() { _ = response.Body.Close() }()
	session := response.Header.Get("Mcp-Session-Id")
	if response.Header.Get("Content-Type") != "text/event-stream" {
		body, _ := io.ReadAll(response.Body)
		m := parseMessage(body, response.StatusCode)
		m.session = session
		c.mail.put(m)
		return
	}
	lines := bufio.NewReader(response.Body)
	for {
		line, err := lines.ReadBytes('\n')
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok && err == nil {
			m := parseMessage(bytes.TrimSuffix(data, []byte("\n")), response.StatusCode)
			m.session = session
			c.mail.put(m)
		}
		if err != nil {
			return
		}
	}
}

// listenToPushes opens the GET stream of an HTTP session.
func (c *client) listenToPushes() {
	if !c.leg.http || c.leg.modern {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.mu.Lock()
	c.cancels["GET"] = cancel
	c.mu.Unlock()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.site.http.URL+"/mcp", nil)
	if err != nil {
		c.t.Fatal(err)
	}
	c.setHeaders(r)
	response, err := c.http.Do(r)
	if err != nil || response.StatusCode != http.StatusOK {
		c.t.Fatalf("opening the GET stream: %v, %v", response, err)
	}
	c.requests.Add(1)
	go func() {
		defer c.requests.Done()
		defer func() { _ = response.Body.Close() }()
		for lines := bufio.NewScanner(response.Body); lines.Scan(); {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				c.mail.put(parseMessage([]byte(data), 0))
			}
		}
	}()
}

// resume requests what an interrupted stream has after an event.
func (c *client) resume(last string) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, c.site.http.URL+"/mcp", nil)
	if err != nil {
		c.t.Fatal(err)
	}
	c.setHeaders(r)
	r.Header.Set("Last-Event-ID", last)
	c.requests.Add(1)
	go func() {
		defer c.requests.Done()
		c.post(r)
	}()
}

// cancel cancels a request in the way of the leg.
func (c *client) cancel(id string) {
	if c.leg.http && c.leg.modern {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.cancels[id]()
		return
	}
	c.send([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`}}`), nil)
}

// reply waits for the response with an id.
func (c *client) reply(id string) message {
	c.t.Helper()
	return c.await("the reply to "+id, func(m message) bool { return m.method == "" && m.id == id })
}

// await waits for the first message that satisfies ok, and removes it.
func (c *client) await(what string, ok func(message) bool) message {
	c.t.Helper()
	m, found := c.mail.take(ok)
	if !found {
		c.t.Fatalf("waited in vain for %s; there is: %s", what, c.mail)
	}
	return m
}
