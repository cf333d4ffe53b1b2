package doctor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/service"
)

// TestServiceMustListen checks that the service counts as running only if a proxy with its
// configuration listens.
func TestServiceMustListen(t *testing.T) {
	m := service.ManagerOf(service.System{OS: "linux", Home: t.TempDir(), Env: func(string) (string, bool) { return "", false }})
	if err := os.MkdirAll(filepath.Dir(m.File), 0o700); err != nil {
		t.Fatal(err)
	}
	const listens = "http://127.0.0.1:7777/mcp"
	d := &Doctor{Services: m}
	for _, c := range []struct {
		text    string
		proxies []operator.Status
		want    string
	}{
		{"", nil, ""},
		{"[Service]\n", nil, ""},
		{`# petrigate wrote this file for the configuration "/a.yaml". petrigate disconnect removes it.`, []operator.Status{{Config: "/a.yaml", Listen: listens}}, "ok the service petrigate runs the configuration /a.yaml"},
		{`# petrigate wrote this file for the configuration "/a.yaml". petrigate disconnect removes it.`, []operator.Status{{Config: "/a.yaml", Listen: "stdio"}, {Config: "/b.yaml", Listen: listens}},
			"failed the service petrigate (" + m.File + ") does not answer: no proxy listens with the configuration /a.yaml"},
	} {
		if c.text != "" {
			if err := os.WriteFile(m.File, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		d.Proxies = c.proxies
		got := ""
		for _, f := range d.service() {
			got += f.Status + " " + f.Says
		}
		if got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if found := new(Doctor).service(); found != nil {
		t.Errorf("%+v", found)
	}
}
