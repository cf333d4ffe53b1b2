package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
	"github.com/petrigate/petrigate/proxy/internal/upstream/streamable"
)

// clientName is the proxy's name in handshakes with servers.
const clientName = "petrigate"

// probeTimeout is how long the proxy waits for a response to server/discover. Most servers do not
// know that method, and some never respond to it.
const probeTimeout = 2 * time.Second

// errDiedOfProbe means that the connection ended before the server responded to server/discover.
var errDiedOfProbe = errors.New("the server exited on server/discover")

// errNot2026 means that the configuration requires revision 2026-07-28, which the server does not
// support.
var errNot2026 = errors.New("the server's answer to server/discover does not conform to revision 2026-07-28")

// An agreement is the result of a handshake.
type agreement struct {
	conn.Introduction
	session  *conn.Session
	declared []byte // capabilities declared to a server of revision 2025-11-25
	late2026 bool   // whether the server agreed to revision 2025-11-25 and offered 2026-07-28 too late
}

// handshake negotiates with the server over the connection c. The negotiation itself is implemented
// by mcp-go.
func (u *Upstream) handshake(ctx context.Context, c conn.Conn, protocol string) (agreement, error) {
	a := &adapter{upstream: u, conn: c, session: new(conn.Session), only2026: mcp.IsModernProtocol(protocol) && protocol != "legacy"}
	err := a.initialize(ctx, protocol)
	late := a.answeredLate() // whether the server offered revision 2026-07-28 only after the timeout, for example because it starts slowly
	if err != nil && late {
		a = &adapter{upstream: u, conn: c, session: new(conn.Session), only2026: true}
		err = a.initialize(ctx, mcp.ProtocolVersion20260728)
	}
	switch {
	case err == nil:
		g := agreement{Introduction: a.introduction(), session: a.session, declared: a.declared}
		g.late2026 = late && g.Rev() == rev.Rev2025
		return g, nil
	case a.diedOfProbe:
		return agreement{}, fmt.Errorf("%w: %w", errDiedOfProbe, a.err)
	case a.err != nil && ctx.Err() == nil:
		return agreement{}, reason(a.err) // return the error without the text that mcp-go adds to it
	}
	return agreement{}, err
}

// reason returns the cause of a failed request. It removes the prefix "request not sent", which
// would confuse people who look at the state of an upstream.
func reason(err error) error {
	if u, ok := errors.AsType[*conn.Unsent](err); ok {
		return u.Why
	}
	return err
}

// An adapter lets the mcp-go client use one of this package's connections. It stores the raw
// results, because mcp-go's types lack some of their members.
type adapter struct {
	upstream *Upstream
	conn     conn.Conn
	session  *conn.Session
	only2026 bool // whether to fail instead of falling back to revision 2025-11-25

	probe       *conn.Exchange // server/discover request and its future reply
	declared    []byte         // capabilities to declare in initialize
	diedOfProbe bool
	result      []byte // most recent successful result
	err         error  // most recent error
}

func (a *adapter) initialize(ctx context.Context, protocol string) error {
	probe := a.upstream.probe
	if a.only2026 { // no separate timeout for server/discover, because falling back is not allowed
		probe = -1
	}
	options := []client.ClientOption{client.WithDiscoverTimeout(probe)}
	switch protocol {
	case "":
	case "legacy":
		options = append(options, client.WithProtocolVersion(mcp.LATEST_LEGACY_PROTOCOL_VERSION))
	default:
		if !mcp.IsValidProtocolVersion(protocol) {
			return conn.Permanently(fmt.Errorf("unknown protocol revision %q", protocol))
		}
		options = append(options, client.WithProtocolVersion(protocol))
	}
	c := client.NewClient(a, options...)
	if err := c.Start(ctx); err != nil {
		return err
	}
	var request mcp.InitializeRequest
	request.Params.ClientInfo = mcp.Implementation{Name: clientName, Version: a.upstream.host.Options.Version}
	_, err := c.Initialize(ctx, request)
	return err
}

// SetProtocolVersion sets the revision for the next request.
func (a *adapter) SetProtocolVersion(version string) { a.session.Version = version }

// SendRequest sends the request, with an ID chosen by the proxy, and waits for the reply.
func (a *adapter) SendRequest(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	reply, err := a.exchange(ctx, request)
	if err == nil && offers2026(supportedRevisions(reply.Error)) { // the server refused revision 2026-07-28 but lists it as supported, so try once more
		reply, err = a.exchange(ctx, request)
	}
	if err == nil {
		err = reply.Err
	}
	if err != nil {
		a.err = err
		return nil, err
	}
	response := &transport.JSONRPCResponse{JSONRPC: mcp.JSONRPC_VERSION, ID: request.ID, Result: reply.Result}
	if reply.Error == nil && request.Method == string(mcp.MethodServerDiscover) && !offers2026(reply.Result) {
		a.err = errNot2026
		response.Result, response.Error = nil, &mcp.JSONRPCErrorDetails{Code: mcp.METHOD_NOT_FOUND, Message: errNot2026.Error()}
		return response, nil
	}
	if reply.Error == nil {
		a.result = reply.Result
		return response, nil
	}
	response.Error = new(mcp.JSONRPCErrorDetails)
	if err := json.Unmarshal(reply.Error, response.Error); err != nil {
		response.Error = &mcp.JSONRPCErrorDetails{Code: mcp.INTERNAL_ERROR, Message: "malformed error"}
	}
	a.err = fmt.Errorf("the server refused %s: %s", request.Method, text.Excerpt(response.Error.Message, 200))
	return response, nil
}

// supportedRevisions returns the revisions listed in an error about an unsupported revision, in the
// form of a server/discover result. For any other error, it returns nil.
func supportedRevisions(refusal []byte) []byte {
	if code, _ := rawjson.Member(refusal, "code"); string(code) != strconv.Itoa(mcp.UNSUPPORTED_PROTOCOL_VERSION) {
		return nil
	}
	versions, ok := rawjson.MemberAt(refusal, "data", "supported")
	if !ok {
		return nil
	}
	return append(append([]byte(`{"supportedVersions":`), versions...), '}')
}

// offers2026 reports whether a server/discover result offers revision 2026-07-28. mcp-go assumes
// that every such result does, but some servers list only older revisions.
func offers2026(discovered []byte) bool {
	return offersRevision(discovered, func(version string) bool { return version == mcp.ProtocolVersion20260728 })
}

// offersRevision reports whether a server/discover result lists a revision v such that ok(v) is
// true.
func offersRevision(discovered []byte, ok func(version string) bool) bool {
	versions, _ := rawjson.Member(discovered, "supportedVersions")
	found := false
	rawjson.Elements(versions, func(value []byte, _ int) bool {
		version, isString := rawjson.String(value)
		found = isString && ok(version)
		return !found
	})
	return found
}

func (a *adapter) exchange(ctx context.Context, request transport.JSONRPCRequest) (conn.Reply, error) {
	probe := request.Method == string(mcp.MethodServerDiscover)
	switch {
	case a.diedOfProbe:
		return conn.Reply{}, a.err
	case a.only2026 && !probe:
		if a.err == nil || errors.Is(a.err, context.DeadlineExceeded) {
			return conn.Reply{}, errNot2026
		}
		return conn.Reply{}, fmt.Errorf("%w: %w", errNot2026, a.err)
	}
	params, err := json.Marshal(request.Params)
	if err != nil {
		return conn.Reply{}, err
	}
	params = a.upstream.declare(request.Method, params)
	if declared, ok := rawjson.Member(params, "capabilities"); ok {
		a.declared = declared
	}
	version := *a.session // a copy, because the next request may use a different revision
	x := conn.NewExchange(a.conn, conn.Request{Method: request.Method, Params: params, Session: &version}, a.upstream.host.IDs.Add(1))
	if probe {
		a.probe = x
	}
	a.conn.Send(x)
	reply, err := a.wait(ctx, x)
	if err == nil {
		a.session.ID = version.ID
	}
	return reply, err
}

// wait waits for the reply to x. It returns an error if the connection ends or ctx is done first.
func (a *adapter) wait(ctx context.Context, x *conn.Exchange) (conn.Reply, error) {
	// If a child process ends, its open requests get replies only when the connection is retired,
	// which happens after the handshake. Therefore, also wait for the end of the connection.
	ended := a.conn.Over()
	if _, ok := a.conn.(*streamable.Conn); ok { // over streamable HTTP, every request gets a reply anyway
		ended = nil
	}
	var err error
	select {
	case reply := <-x.Done():
		return reply, nil
	case <-ended:
		err = a.conn.Cause()
		// A server that starts slowly may read server/discover only after the timeout, and then
		// exit because it does not know the method.
		a.diedOfProbe = a.probe != nil && !a.probe.Answered.Load()
	case <-ctx.Done():
		err = ctx.Err()
	}
	select {
	case reply := <-x.Done():
		a.diedOfProbe = false
		return reply, nil
	default:
		x.GiveUp()
		return conn.Reply{}, err
	}
}

// answeredLate reports whether the server responded to server/discover after the timeout and offers
// revision 2026-07-28.
func (a *adapter) answeredLate() bool {
	if a.only2026 || a.probe == nil {
		return false
	}
	select {
	case reply := <-a.probe.Done():
		return offers2026(reply.Result)
	default:
		return false
	}
}

// SendNotification sends a notification that is part of the handshake.
func (a *adapter) SendNotification(ctx context.Context, n mcp.JSONRPCNotification) error {
	return a.conn.Notify(ctx, a.session, n.Method, nil)
}

// The remaining methods do nothing: the connection is managed by its owner, and notifications are
// handled elsewhere.
func (a *adapter) Start(context.Context) error                                       { return nil }
func (a *adapter) Close() error                                                      { return nil }
func (a *adapter) GetSessionId() string                                              { return a.session.ID }
func (a *adapter) SetNotificationHandler(func(notification mcp.JSONRPCNotification)) {}

// introduction returns the server's self-description in the latest result.
func (a *adapter) introduction() conn.Introduction {
	i := conn.Introduction{ProtocolVersion: a.session.Version, Around: undefinedMembers(a.result)}
	info, _ := rawjson.Member(a.result, "serverInfo")
	if i.Rev() == rev.Rev2026 {
		i.Speaks2025 = offersRevision(a.result, func(version string) bool { return !mcp.IsModernProtocol(version) })
		info, _ = rawjson.MemberAt(a.result, "_meta", mcp.MetaKeyServerInfo)
	}
	capabilities, _ := rawjson.Member(a.result, "capabilities")
	i.Instructions = rawjson.StringAt(a.result, "instructions")
	i.ServerInfo, i.Capabilities = bytes.Clone(info), bytes.Clone(capabilities)
	return i
}

// maxAround is the maximum size, in bytes, of a server's self-description that undefinedMembers
// accepts.
const maxAround = 256 << 10

// undefinedMembers returns a JSON object that contains _meta and the members of a server's
// self-description that the specification does not define. It returns nil if the self-description
// is too large. It omits a member if its name differs from a defined name only in case, because a
// client that ignores case could confuse the two.
func undefinedMembers(result []byte) []byte {
	if len(result) > maxAround {
		return nil
	}
	rest := []byte{'{'}
	rawjson.Members(result, func(key, value []byte, _ int) bool {
		known := func(k string) bool { return strings.EqualFold(k, string(key)) }
		if slices.ContainsFunc(introductionMembers[:], known) || known("_meta") && string(key) != "_meta" {
			return true
		}
		if len(rest) > 1 {
			rest = append(rest, ',')
		}
		rest = append(append(rawjson.AppendString(rest, string(key)), ':'), value...)
		return true
	})
	return append(rest, '}')
}

// introductionMembers lists the members, except _meta, that the specification defines for the
// results of initialize and server/discover.
var introductionMembers = [...]string{
	"protocolVersion", "supportedVersions", "capabilities", "serverInfo", "instructions", "resultType", "ttlMs", "cacheScope",
}

// requestMeta returns the _meta members, without braces, that the proxy sends in each request of
// revision 2026-07-28. The last member holds the client's capabilities. Its value is missing, and
// the caller must append it.
func requestMeta(version string) []byte {
	info, _ := json.Marshal(map[string]string{"name": clientName, "version": version}) // cannot fail: strings can always be marshaled
	b := []byte(`"` + mcp.MetaKeyProtocolVersion + `":"` + mcp.ProtocolVersion20260728 + `","` + mcp.MetaKeyClientInfo + `":`)
	b = append(b, info...)
	return append(b, `,"`+mcp.MetaKeyClientCapabilities+`":`...)
}
