package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/operator"
)

// A Client sends an operator's requests to a running proxy.
type Client struct {
	Path string
	http *http.Client
}

// Find returns clients for the proxies that have a socket in dir and respond in time. It removes
// the sockets of processes that have ended. If dir does not exist, Find returns no clients. If
// other users can access dir, Find returns an error, because they could forge sockets.
func Find(dir string) ([]*Client, error) {
	switch err := checkDir(dir); {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	removeStale(dir)
	paths, err := sockets(dir)
	if err != nil {
		return nil, fmt.Errorf("looking for running proxies: %w", err)
	}
	found := make([]*Client, len(paths))
	var asked sync.WaitGroup
	for i, path := range paths {
		asked.Go(func() {
			if Dial(path).isAlive() {
				found[i] = Dial(path)
			}
		})
	}
	asked.Wait()
	return slices.DeleteFunc(found, func(c *Client) bool { return c == nil }), nil
}

// Sockets returns the paths of the sockets in dir without connecting to them. If dir does not
// exist, it returns nil.
func Sockets(dir string) ([]string, error) {
	switch err := checkDir(dir); {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return sockets(dir)
}

// isAlive reports whether the proxy responds within a few seconds. It sends a request that the
// proxy can answer quickly even if many calls are waiting.
func (c *Client) isAlive() bool {
	c.http.Timeout = 5 * time.Second
	return c.do("/ping", nil, &struct{}{}) == nil
}

// Dial returns a client for the socket at path. It does not connect to the socket yet.
func Dial(path string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}
	return &Client{Path: path, http: &http.Client{
		Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true},
		Timeout:   time.Minute,
	}}
}

// Status returns the status of the running proxy.
func (c *Client) Status() (operator.Status, error) { return get[operator.Status](c, "/status") }

// Tools lists the tools, each with the decision that a call to it would currently receive in the
// given session; see [operator.Proxy.Tools].
func (c *Client) Tools(session string) ([]operator.ToolInfo, error) {
	return get[[]operator.ToolInfo](c, "/tools?session="+url.QueryEscape(session))
}

// ToolChanges returns the tools whose current definition has not been accepted.
func (c *Client) ToolChanges() ([]operator.ToolChange, error) {
	return get[[]operator.ToolChange](c, "/tools/changes")
}

// AcceptTool accepts the current definition of a tool.
func (c *Client) AcceptTool(a Accept) error { return c.do("/tools/accept", a, &struct{}{}) }

// Approvals returns the proxy's approvals.
func (c *Client) Approvals() ([]operator.ApprovalInfo, error) {
	return get[[]operator.ApprovalInfo](c, "/approvals")
}

// Approval returns the approval with the given ID.
func (c *Client) Approval(id string) (operator.ApprovalInfo, error) {
	return get[operator.ApprovalInfo](c, "/approvals/"+url.PathEscape(id))
}

// Changes waits until the proxy's approvals differ from those in an earlier result, identified by
// its Version, and returns them. If the given version is empty, Changes does not wait. If nothing
// changes for a while, Changes returns the unchanged approvals.
func (c *Client) Changes(ctx context.Context, after string) (now Changes, err error) {
	return now, c.send(ctx, "/approvals/changes?after="+url.QueryEscape(after), nil, &now)
}

// Resolve sends a person's answer to an approval request.
func (c *Client) Resolve(id string, a Answer) error {
	return c.do("/approvals/"+url.PathEscape(id), a, &struct{}{})
}

// Grants returns the proxy's grants.
func (c *Client) Grants() ([]operator.GrantInfo, error) {
	return get[[]operator.GrantInfo](c, "/grants")
}

// Revoke ends a grant.
func (c *Client) Revoke(id string, a Revoke) error {
	return c.do("/grants/"+url.PathEscape(id)+"/revoke", a, &struct{}{})
}

// ListSessions returns the sessions of all processes that share the proxy's database, without their
// nets.
func (c *Client) ListSessions() ([]operator.SessionInfo, error) {
	return get[[]operator.SessionInfo](c, "/sessions/list")
}

// Session returns the session with the given ID.
func (c *Client) Session(id string) (operator.SessionInfo, error) {
	return get[operator.SessionInfo](c, "/sessions/"+url.PathEscape(id))
}

// Sessions returns the same sessions as [Client.ListSessions], but with their nets, which takes
// longer.
func (c *Client) Sessions() ([]operator.SessionInfo, error) {
	return get[[]operator.SessionInfo](c, "/sessions")
}

// Shadow reports on the nets in shadow mode; see [operator.Proxy.Shadow].
func (c *Client) Shadow(session string) (operator.ShadowInfo, error) {
	return get[operator.ShadowInfo](c, "/shadow?session="+url.QueryEscape(session))
}

// ResetSession resets the nets of a session.
func (c *Client) ResetSession(id string, a Reset) error {
	return c.do("/sessions/"+url.PathEscape(id)+"/reset", a, &struct{}{})
}

// SettleCall sets the outcome of a call whose outcome is unknown.
func (c *Client) SettleCall(id string, a Settle) error {
	return c.do("/sessions/"+url.PathEscape(id)+"/settle", a, &struct{}{})
}

// Stop makes the running proxy refuse calls; see [operator.Proxy.Stop].
func (c *Client) Stop(a Stop) (done operator.Stopping, err error) {
	return done, c.do("/stop", a, &done)
}

// StartAgain makes the running proxy allow calls again; see [operator.Proxy.StartAgain].
func (c *Client) StartAgain(a Stop) (done operator.Stopping, err error) {
	return done, c.do("/start", a, &done)
}

// Nets returns the nets of the policy in force.
func (c *Client) Nets() ([]operator.PolicyNet, error) { return get[[]operator.PolicyNet](c, "/nets") }

// SwitchNet activates or deactivates a net.
func (c *Client) SwitchNet(a Switch) error {
	return c.do("/nets", a, &struct{}{})
}

// get sends a GET request and decodes the response.
func get[T any](c *Client, path string) (v T, err error) {
	err = c.do(path, nil, &v)
	return v, err
}

// do sends a POST request with the given body, or a GET request if the body is nil. It decodes the
// proxy's response into out.
func (c *Client) do(path string, in, out any) error {
	return c.send(context.Background(), path, in, out)
}

func (c *Client) send(ctx context.Context, path string, in, out any) error {
	method, body := http.MethodGet, []byte(nil)
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
		method = http.MethodPost
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://petrigate"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	return c.exchange(request, out)
}

// exchange sends the request. It decodes a successful response into out, and returns an error for
// any other response.
func (c *Client) exchange(request *http.Request, out any) error {
	response, err := c.http.Do(request)
	if err != nil {
		return fmt.Errorf("asking the proxy at %s: %w", c.Path, err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		var f failure
		if err := json.NewDecoder(response.Body).Decode(&f); err != nil || f.Error == "" {
			return fmt.Errorf("the proxy at %s responded %s", c.Path, response.Status)
		}
		return errors.New(f.Error)
	}
	return json.NewDecoder(response.Body).Decode(out)
}

// Reload tells the running proxy to reload its configuration.
func (c *Client) Reload(o Reload) (r Reloaded, err error) {
	c.http.Timeout = 5 * time.Minute // the proxy also tries to prove the claims in the new policy, which may take long
	return r, c.do("/reload", o, &r)
}

// Open returns a console address with a login code, which is valid for one browser.
func (c *Client) Open(o Open) (done Opened, err error) { return done, c.do("/console", o, &done) }

// Hook forwards an agent's hook event to the proxy and returns the reply. If the call requires
// approval, Hook waits for a person to answer.
func (c *Client) Hook(ctx context.Context, agent, session string, servers []string, event []byte) (reply HookReply, err error) {
	q := url.Values{"agent": {agent}, "server": servers}
	if session != "" {
		q.Set("session", session)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://petrigate/hook?"+q.Encode(), bytes.NewReader(event))
	if err != nil {
		return reply, err
	}
	err = c.exchange(request, &reply)
	if err == nil && len(reply.Output) == 0 {
		err = fmt.Errorf("the proxy at %s sent an invalid response", c.Path)
	}
	return reply, err
}
