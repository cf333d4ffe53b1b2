package proxytest

import (
	"bufio"
	"context"
	"net/http"
	"strings"
)

// An OlderClient is a client that uses HTTP+SSE (revision 2024-11-05).
type OlderClient struct {
	*Site
	Token  string
	Where  string // URL to post messages to
	Events *bufio.Reader
	End    context.CancelFunc
}

// ConnectOlder connects to the proxy over HTTP+SSE by opening an event stream, and returns the
// client.
func (s *Site) ConnectOlder(token string) *OlderClient {
	s.T.Helper()
	ctx, cancel := context.WithCancel(s.T.Context())
	s.T.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.HTTP.URL+"/sse", http.NoBody)
	if err != nil {
		s.T.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		s.T.Fatal(err)
	}
	s.T.Cleanup(func() { _ = response.Body.Close() })
	if response.StatusCode != 200 || response.Header.Get("Content-Type") != "text/event-stream" {
		s.T.Fatal(response.Status)
	}
	c := &OlderClient{Site: s, Token: token, Events: bufio.NewReader(response.Body), End: cancel}
	name, data := c.event()
	if name != "endpoint" {
		s.T.Fatal(name, data)
	}
	c.Where = data
	return c
}

// event reads the next event from the stream.
func (c *OlderClient) event() (name, data string) {
	c.T.Helper()
	for {
		line, err := c.Events.ReadString('\n')
		if err != nil {
			c.T.Fatal(err)
		}
		line = strings.TrimSuffix(line, "\n")
		switch key, value, _ := strings.Cut(line, ": "); key {
		case "event":
			name = value
		case "data":
			data = value
		case "":
			if name != "" {
				return name, data
			}
		}
	}
}

// Post sends a message with the given bearer token and returns the HTTP status.
func (c *OlderClient) Post(token, body string) int {
	c.T.Helper()
	status, _, _ := c.Fetch(HTTPRequest{Method: "POST", Path: c.Where, Body: body, Header: http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}}})
	return status
}

// Ask posts a request and returns the next message in the stream.
func (c *OlderClient) Ask(body string) Message {
	c.T.Helper()
	if status := c.Post(c.Token, body); status != 202 {
		c.T.Fatal(status)
	}
	_, data := c.event()
	return ParseMessage([]byte(data), 200)
}
