package main

import (
	"context"
	"net/http/httptest"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// TestProxy calls a tool of a server over HTTP through the proxy.
func TestProxy(t *testing.T) {
	echo := server.NewMCPServer("echo", "1")
	echo.AddTool(mcp.NewTool("echo", mcp.WithString("text")), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("said " + r.GetString("text", "")), nil
	})
	at := httptest.NewServer(server.NewStreamableHTTPServer(echo))
	defer at.Close()
	upstream, err := dial(at.URL+"/mcp", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer upstream.Close()
	proxy, err := newProxy(t.Context(), upstream)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.NewInProcessClient(proxy)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Initialize(t.Context(), mcp.InitializeRequest{}); err != nil {
		t.Fatal(err)
	}
	got, err := c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "hello"}}})
	if err != nil {
		t.Fatal(err)
	}
	if text, ok := got.Content[0].(mcp.TextContent); !ok || text.Text != "said hello" {
		t.Errorf("the result is %+v", got)
	}
}

// TestWhichServer checks that exactly one of a URL and a command is required.
func TestWhichServer(t *testing.T) {
	for _, args := range [][]string{{}, {"-url", "http://127.0.0.1:1/mcp", "--", "echo"}} {
		if err := run(t.Context(), args); err == nil {
			t.Errorf("naive %q succeeds", args)
		}
	}
}
