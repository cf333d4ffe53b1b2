package httpguard_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/petrigate/petrigate/proxy/internal/httpguard"
)

func Example() {
	d, err := httpguard.New(httpguard.Access{
		Addr: "127.0.0.1:7777", Tokens: map[string]string{"ann": "kept in a file"},
	}, httpguard.Options{MaxMessage: 1 << 20})
	if err != nil {
		panic(err)
	}
	endpoint := func(w http.ResponseWriter, r *http.Request) {
		d.Begin(w, r)
		v, ok := d.Admit(w, r)
		if !ok {
			return
		}
		defer v.Release()
		fmt.Fprintln(w, "hello,", v.Principal)
	}
	for _, token := range []string{"a guess", "kept in a file"} {
		r := httptest.NewRequest(http.MethodPost, "http://localhost:7777/mcp", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		endpoint(w, r)
		fmt.Print(w.Code, " ", w.Body)
	}
	// Output:
	// 401 a bearer token is required
	// 200 hello, token:ann
}
