// Command naive is a minimal proxy built with mcp-go, for comparison in the benchmark. It offers
// the tools of a single server and forwards every call, without a policy and without records.
//
//	naive [-http ADDR] (-url URL | -- COMMAND [ARG...])
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "naive:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("naive", flag.ContinueOnError)
	addr := flags.String("http", "", "serve streamable HTTP at this `address`, at /mcp, instead of stdio")
	url := flags.String("url", "", "the `URL` of the server's streamable HTTP endpoint, instead of a command")
	if err := flags.Parse(args); err != nil {
		return err
	}
	upstream, err := dial(*url, flags.Args())
	if err != nil {
		return err
	}
	defer func() { _ = upstream.Close() }()
	proxy, err := newProxy(ctx, upstream)
	if err != nil {
		return err
	}
	if *addr != "" {
		return server.NewStreamableHTTPServer(proxy).Start(*addr)
	}
	stdio := server.NewStdioServer(proxy)
	server.WithWorkerPoolSize(100)(stdio) // 5 workers, the default, are too few for the benchmark's concurrent calls
	server.WithQueueSize(10_000)(stdio)
	return stdio.Listen(ctx, os.Stdin, os.Stdout)
}

// dial returns a client for the server at url or, if url is empty, for the server that the given
// command runs. The client has not been started yet.
func dial(url string, command []string) (*client.Client, error) {
	switch {
	case (url == "") == (len(command) == 0):
		return nil, errors.New("which server? Write -url URL, or a command behind --")
	case url == "":
		return client.NewClient(transport.NewStdio(command[0], nil, command[1:]...)), nil
	}
	// With the default of 2 idle connections, most calls in 64 sessions would need a new
	// connection.
	pooled := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}
	t, err := transport.NewStreamableHTTP(url, transport.WithHTTPBasicClient(pooled))
	if err != nil {
		return nil, err
	}
	return client.NewClient(t), nil
}

// newProxy starts the upstream client and returns a server that offers the upstream's tools.
func newProxy(ctx context.Context, upstream *client.Client) (*server.MCPServer, error) {
	if err := upstream.Start(ctx); err != nil {
		return nil, fmt.Errorf("starting the server: %w", err)
	}
	if _, err := upstream.Initialize(ctx, mcp.InitializeRequest{}); err != nil {
		return nil, fmt.Errorf("initializing the server: %w", err)
	}
	list, err := upstream.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return nil, fmt.Errorf("listing tools: %w", err)
	}
	proxy := server.NewMCPServer("naive", "1")
	for _, tool := range list.Tools {
		proxy.AddTool(tool, func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return upstream.CallTool(ctx, mcp.CallToolRequest{Params: r.Params})
		})
	}
	return proxy, nil
}
