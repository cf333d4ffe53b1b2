package tasks_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/proxy"
)

// foreign returns a site whose upstream is a server of mcp-go. Its tool "work" can run as a task,
// which ends when the returned function is called.
func foreign(t *testing.T) (*proxytest.Site, func()) {
	t.Helper()
	ctx, finish := context.WithCancel(context.Background())
	m := server.NewMCPServer("foreign", "1", server.WithToolCapabilities(true), server.WithTaskCapabilities(true, true, true))
	tool := mcp.NewTool("work", mcp.WithTaskSupport(mcp.TaskSupportRequired))
	m.AddTaskTool(tool, func(context.Context, mcp.CallToolRequest) (*mcp.CreateTaskResult, error) {
		<-ctx.Done() // not the call's context, which ends with its HTTP request
		return &mcp.CreateTaskResult{Content: []mcp.Content{mcp.NewTextContent("worked")}}, nil
	})
	m.AddTool(mcp.NewTool("push"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("pushed"), nil
	})
	web := httptest.NewServer(server.NewStreamableHTTPServer(m))
	s := proxytest.Start(t, proxytest.Setup{Policy: proxytest.PolicyOf(t, "require work before push\n"), Change: func(o *proxy.Options) {
		o.Upstreams = []proxy.Upstream{{Name: "up", URL: web.URL + "/mcp", Protocol: "legacy"}}
	}})
	t.Cleanup(func() {
		finish()
		web.CloseClientConnections()
		web.Close()
	})
	return s, finish
}

// TestTaskOfForeignServer checks that tasks work with another server implementation.
func TestTaskOfForeignServer(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s, finish := foreign(t)
		c := s.Connect(l, proxytest.CanTasks)
		id := c.BeginTask("work", `{}`)
		c.CallBlocked("push")
		if got := standing(c, id); got != "working" {
			t.Errorf("status %q", got)
		}
		finish()
		if r := c.TaskOutcome(id); !strings.Contains(string(r.Raw), "worked") {
			t.Errorf("%s", r.Raw)
		}
		c.Must("push", `{}`)
	})
}

// TestTaskOfForeignServerCancelled checks that a canceled task does not count as a success,
// although this server implementation answers tasks/result with a result that looks like one.
func TestTaskOfForeignServerCancelled(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s, _ := foreign(t)
		c := s.Connect(l, proxytest.CanTasks)
		id := c.BeginTask("work", `{}`)
		if !l.Modern {
			waits := c.RequestTask("result", id)
			defer func() { c.Reply(waits) }()
		}
		if r := c.Reply(c.RequestTask("cancel", id)); r.Result == nil {
			t.Errorf("%s", r.Raw)
		}
		s.Eventually("it is over", func() bool { return standing(c, id) == "cancelled" })
		c.CallBlocked("push")
		oneEnd(s, "work", "unknown")
	})
}
