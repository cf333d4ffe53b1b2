package proxy_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/petrigate/petrigate/proxy"
)

// foreign is a site whose upstream is mcp-go's own server, with a tool "work" that can be a task
// and ends when the returned function is called.
func foreign(t *testing.T) (*site, func()) {
	t.Helper()
	ctx, finish := context.WithCancel(context.Background())
	m := server.NewMCPServer("foreign", "1", server.WithToolCapabilities(true), server.WithTaskCapabilities(true, true, true))
	tool := mcp.NewTool("work", mcp.WithTaskSupport(mcp.TaskSupportRequired))
	m.AddTaskTool(tool, func(context.Context, mcp.CallToolRequest) (*mcp.CreateTaskResult, error) {
		<-ctx.Done() // not the context of the call, which ends with its HTTP request
		return &mcp.CreateTaskResult{Content: []mcp.Content{mcp.NewTextContent("worked")}}, nil
	})
	m.AddTool(mcp.NewTool("push"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("pushed"), nil
	})
	web := httptest.NewServer(server.NewStreamableHTTPServer(m))
	s := start(t, setup{policy: policyOf(t, "require work before push\n"), change: func(o *proxy.Options) {
		o.Upstreams = []proxy.Upstream{{Name: "up", URL: web.URL + "/mcp", Protocol: "legacy"}}
	}})
	t.Cleanup(func() {
		finish()
		web.CloseClientConnections()
		web.Close()
	})
	return s, finish
}

// TestTaskOfForeignServer: the tasks of another server implementation.
func TestTaskOfForeignServer(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s, finish := foreign(t)
		c := s.connect(l, takesTasks)
		id := c.begin("work", `{}`)
		c.blocked("push")
		if got := c.standing(id); got != "working" {
			t.Errorf("status %q", got)
		}
		finish()
		if r := c.outcome(id); !strings.Contains(string(r.raw), "worked") {
			t.Errorf("%s", r.raw)
		}
		c.must("push", `{}`)
	})
}

// TestTaskOfForeignServerCancelled: it answers tasks/result for a cancelled task with a result that
// looks like a success but must not count as one.
func TestTaskOfForeignServerCancelled(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s, _ := foreign(t)
		c := s.connect(l, takesTasks)
		id := c.begin("work", `{}`)
		if !l.modern {
			waits := c.task("result", id)
			defer func() { c.reply(waits) }()
		}
		if r := c.reply(c.task("cancel", id)); r.result == nil {
			t.Errorf("%s", r.raw)
		}
		s.eventually("it is over", func() bool { return c.standing(id) == "cancelled" })
		c.blocked("push")
		s.oneEnd("work", "unknown")
	})
}
