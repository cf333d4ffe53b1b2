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
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/operator"
)

// A Client speaks to one running proxy.
type Client struct {
	Path string
	http *http.Client
}

// Find lists the proxies whose sockets are in dir and that answer soon. The
// sockets of processes that are gone are removed. A directory that does not
// exist has none; in one that others can write, any of them could be forged.
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
	answers := make([]bool, len(paths))
	var asked sync.WaitGroup
	for i, path := range paths {
		asked.Go(func() { answers[i] = Dial(path).isAlive() })
	}
	asked.Wait()
	var found []*Client
	for i, path := range paths {
		if answers[i] {
			found = append(found, Dial(path))
		}
	}
	return found, nil
}

// Sockets lists the paths at which proxies may listen whose sockets are in dir, without
// asking them. A directory that does not exist has none.
func Sockets(dir string) ([]string, error) {
	switch err := checkDir(dir); {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return sockets(dir)
}

// isAlive asks for no longer than one would wait for a proxy that hangs. What
// it asks for takes a proxy no work, however much waits there.
func (c *Client) isAlive() bool {
	c.http.Timeout = 5 * time.Second
	return c.do("/ping", nil, &struct{}{}) == nil
}

// Dial makes a client for the socket at path. It does not connect yet.
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

// Status is [proxy.Proxy.Status] of the running proxy.
func (c *Client) Status() (operator.Status, error) { return get[operator.Status](c, "/status") }

// Tools is [proxy.Proxy.Tools] of the running proxy.
func (c *Client) Tools(session string) ([]operator.ToolInfo, error) {
	return get[[]operator.ToolInfo](c, "/tools?session="+url.QueryEscape(session))
}

// ToolChanges is [proxy.Proxy.ToolChanges] of the running proxy.
func (c *Client) ToolChanges() ([]operator.ToolChange, error) {
	return get[[]operator.ToolChange](c, "/tools/changes")
}

// AcceptTool accepts what a server says of a tool now.
func (c *Client) AcceptTool(a Accept) error { return c.do("/tools/accept", a, &struct{}{}) }

// Approvals is [proxy.Proxy.Approvals] of the running proxy.
func (c *Client) Approvals() ([]operator.ApprovalInfo, error) {
	return get[[]operator.ApprovalInfo](c, "/approvals")
}

// Approval is [proxy.Proxy.Approval] of the running proxy.
func (c *Client) Approval(id string) (operator.ApprovalInfo, error) {
	return get[operator.ApprovalInfo](c, "/approvals/"+url.PathEscape(id))
}

// Changes waits until the approvals of the running proxy are not as they were when the
// version was after, and returns them. Empty, it does not wait. Where nothing happens for a
// while, it returns them as they are.
func (c *Client) Changes(ctx context.Context, after string) (now Changes, err error) {
	return now, c.send(ctx, "/approvals/changes?after="+url.QueryEscape(after), nil, &now)
}

// Resolve answers an approval.
func (c *Client) Resolve(id string, a Answer) error {
	return c.do("/approvals/"+url.PathEscape(id), a, &struct{}{})
}

// Grants is [proxy.Proxy.Grants] of the running proxy.
func (c *Client) Grants() ([]operator.GrantInfo, error) {
	return get[[]operator.GrantInfo](c, "/grants")
}

// Revoke ends a grant.
func (c *Client) Revoke(id string, a Revoke) error {
	return c.do("/grants/"+url.PathEscape(id)+"/revoke", a, &struct{}{})
}

// ListSessions is [proxy.Proxy.ListSessions] of the running proxy.
func (c *Client) ListSessions() ([]operator.SessionInfo, error) {
	return get[[]operator.SessionInfo](c, "/sessions/list")
}

// Session is [proxy.Proxy.Session] of the running proxy.
func (c *Client) Session(id string) (operator.SessionInfo, error) {
	return get[operator.SessionInfo](c, "/sessions/"+url.PathEscape(id))
}

// Sessions is [proxy.Proxy.AllSessions] of the running proxy.
func (c *Client) Sessions() ([]operator.SessionInfo, error) {
	return get[[]operator.SessionInfo](c, "/sessions")
}

// Shadow is [proxy.Proxy.Shadow] of the running proxy.
func (c *Client) Shadow(session string) (operator.ShadowInfo, error) {
	return get[operator.ShadowInfo](c, "/shadow?session="+url.QueryEscape(session))
}

// ResetSession puts the nets of a session back to their start.
func (c *Client) ResetSession(id string, a Reset) error {
	return c.do("/sessions/"+url.PathEscape(id)+"/reset", a, &struct{}{})
}

// SettleCall says how a call of unknown outcome ended.
func (c *Client) SettleCall(id string, a Settle) error {
	return c.do("/sessions/"+url.PathEscape(id)+"/settle", a, &struct{}{})
}

// Stop is [proxy.Proxy.Stop] of the running proxy.
func (c *Client) Stop(a Stop) (done operator.Stopping, err error) {
	return done, c.do("/stop", a, &done)
}

// StartAgain is [proxy.Proxy.StartAgain] of the running proxy.
func (c *Client) StartAgain(a Stop) (done operator.Stopping, err error) {
	return done, c.do("/start", a, &done)
}

// Nets lists the nets of the policy.
func (c *Client) Nets() ([]operator.PolicyNet, error) { return get[[]operator.PolicyNet](c, "/nets") }

// SwitchNet activates or deactivates a net.
func (c *Client) SwitchNet(a Switch) error {
	return c.do("/nets", a, &struct{}{})
}

// get asks for a T.
func get[T any](c *Client, path string) (v T, err error) {
	err = c.do(path, nil, &v)
	return v, err
}

// do sends one request, with the order in if there is one, and decodes the answer into out.
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

// exchange sends a request, and decodes the answer into out.
func (c *Client) exchange(request *http.Request, out any) error {
	response, err := c.http.Do(request)
	if err != nil {
		return fmt.Errorf("asking the proxy at %s: %w", c.Path, err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		var f failure
		if err := json.NewDecoder(response.Body).Decode(&f); err != nil || f.Error == "" {
			return fmt.Errorf("the proxy at %s answers %s", c.Path, response.Status)
		}
		return errors.New(f.Error)
	}
	return json.NewDecoder(response.Body).Decode(out)
}
