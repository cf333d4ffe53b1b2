package proxy_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
	"github.com/petrigate/petrigate/rules"
)

// onlyAfter is the policy of the examples.
func onlyAfter() *gate.Policy {
	file, _ := rules.Parse("policy.rules", []byte("require backup before delete\n"))
	compiled, err := rules.Compile(file)
	if err != nil {
		panic(err)
	}
	p, err := gate.NewPolicy(compiled.Nets, gate.PolicyOptions{})
	if err != nil {
		panic(err)
	}
	return p
}

func ExampleProxy_ServeStdio() {
	upstream := httptest.NewServer(testserver.New(testserver.Options{Tools: testserver.Attack(), Revisions: testserver.Legacy}))
	defer upstream.Close()
	p, err := proxy.New(proxy.Options{
		Upstreams: []proxy.Upstream{{Name: "db", URL: upstream.URL}},
		Policy:    onlyAfter(),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = p.Close() }()
	p.Start()
	p.AwaitTools(context.Background())

	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"delete"}}` + "\n")
	if err := p.ServeStdio(context.Background(), in, os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"delete requires a successful call to backup first. (policy.rules:1:1)"}],"isError":true,"_meta":{"io.petrigate/decision":{"decision":"refuse","kind":"blocked","cause":"sequence","nets":[{"net":"require-backup-before-delete","cause":"sequence","rule":"policy.rules:1:1","reason":"delete requires a successful call to backup first."}]}}}}
}

func ExampleProxy_Handler() {
	p, err := proxy.New(proxy.Options{Policy: onlyAfter()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = p.Close() }()
	_, err = p.Handler(proxy.Access{Addr: "0.0.0.0:8080", Open: true})
	fmt.Println(err)
	handler, err := p.Handler(proxy.Access{Addr: "127.0.0.1:8080", Token: "kept in a file"})
	fmt.Println(handler != nil, err)
	// Output:
	// the listener at 0.0.0.0:8080 is reachable from other machines: it requires authentication (auth: token or auth: jwt) or a loopback address such as 127.0.0.1
	// true <nil>
}
