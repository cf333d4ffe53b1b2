package control_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/proxy"
)

func Example() {
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()

	// In the proxy's process:
	p, err := proxy.New(proxy.Options{Version: "v0.1.0"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = p.Close() }()
	server, err := control.Listen(filepath.Join(dir, "run"), p)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = server.Close() }()

	// In the operator's:
	found, err := control.Find(filepath.Join(dir, "run"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, client := range found {
		status, err := client.Status()
		fmt.Println(status.Version, err)
		fmt.Println(client.ResetSession("3f2a", control.Reset{Actor: "ann"}))
	}
	// Output:
	// v0.1.0 <nil>
	// there is no session "3f2a"
}
