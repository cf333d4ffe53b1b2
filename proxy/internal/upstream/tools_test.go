package upstream

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
)

// pages returns an endpoint that answers tools/list by calling page with the cursor.
func pages(page func(cursor string) string) *endpoint {
	e := &endpoint{}
	e.call = ok
	e.list = func(w http.ResponseWriter, m incoming) {
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, m.ID, page(m.Params.Cursor))
	}
	return e
}

func TestListTools(t *testing.T) {
	for name, c := range map[string]struct {
		page func(cursor string) string
		want string
		err  string
	}{
		"verbatim": {page: func(cursor string) string {
			if cursor == `2"` {
				return `"result":{"tools":[{"name":"b"},{"x":1e400}],"nextCursor":null}`
			}
			return `"result":{"nextCursor":"2\"","tools":[{ "name" : "a", "n":9007199254740993, "inputSchema":true }]}`
		}, want: `{ "name" : "a", "n":9007199254740993, "inputSchema":true }|{"name":"b"}|{"x":1e400}`},
		"none":     {page: func(string) string { return `"error":{"code":-32601,"message":"no"}` }},
		"empty":    {page: func(string) string { return `"result":{"tools":[],"nextCursor":""}` }},
		"refused":  {page: func(string) string { return `"error":{"code":-1,"message":"not today"}` }, err: "not today"},
		"no array": {page: func(string) string { return `"result":{"tools":{}}` }, err: "no array"},
		"broken":   {page: func(string) string { return `"result":{"tools":[1 2]}` }, err: "no array"},
		"cursor":   {page: func(string) string { return `"result":{"tools":[],"nextCursor":7}` }, err: "not a string"},
		"circle":   {page: func(string) string { return `"result":{"tools":[],"nextCursor":"again"}` }, err: "same cursor twice"},
		"endless": {page: func(cursor string) string {
			return `"result":{"tools":[],"nextCursor":"` + cursor + `x"}`
		}, err: "more than 1000 pages"},
		"many": {page: func(string) string {
			return `"result":{"tools":[` + strings.Repeat("{},", maxTools) + `{}]}`
		}, err: "more than 20000 tools"},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, serve(t, pages(c.page)).config())
			list, err := s.ListTools(t.Context())
			var got []string
			for _, tool := range list.Tools {
				got = append(got, string(tool))
			}
			if strings.Join(got, "|") != c.want {
				t.Error(got)
			}
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Error(err)
			}
		})
	}
}

func TestListToolsWhileDown(t *testing.T) {
	s := prepare(t, Config{})
	if _, err := s.ListTools(t.Context()); err == nil {
		t.Error("no error")
	}
}

// TestMarkedArguments checks tools that, over modern HTTP, require arguments in headers.
func TestMarkedArguments(t *testing.T) {
	e := pages(func(string) string {
		return `"result":{"tools":[
			{"name":"do","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}},
			{"name":"bad","inputSchema":{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"A"}}}},
			{"name":"plain","inputSchema":{"type":"object"}}]}`
	})
	e.modern = true
	s := start(t, serve(t, e).config())
	if list, err := s.ListTools(t.Context()); err != nil || len(list.Tools) != 2 {
		t.Errorf("%s %v", list.Tools, err)
	}
	marked := &mcp.Tool{RawInputSchema: []byte(`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`)}
	s.answer(s.Send(Request{Method: "tools/call", Name: "do", Params: []byte(`{"name":"do","arguments":{"region":"north"}}`), Mirrored: marked}))
	if got := e.headers[len(e.headers)-1].Get("Mcp-Param-Region"); got != "north" {
		t.Errorf("%q", got)
	}
}
