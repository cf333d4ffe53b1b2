package oauth_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"github.com/petrigate/petrigate/internal/authserver"
	"github.com/petrigate/petrigate/internal/serve/oauth"
)

func Example() {
	server := authserver.New(http.NotFoundHandler(), authserver.Options{Scopes: []string{"read"}})
	listening := httptest.NewServer(server)
	defer listening.Close()
	server.At(listening.URL)
	dir, err := os.MkdirTemp("", "petrigate")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx := context.Background()
	notes, store := oauth.Server{Name: "notes", URL: listening.URL + "/mcp"}, oauth.NewStore(dir, oauth.File)

	// A proxy, before anyone has logged in.
	source := oauth.NewSource(notes, store, oauth.Options{})
	defer source.Close()
	refused := &http.Response{StatusCode: http.StatusUnauthorized}
	_, err = source.Renew(ctx, "", refused)
	fmt.Println(err)

	// A person logs in.
	browser := func(address string) error {
		go func() {
			if response, err := http.Get(address); err == nil {
				_ = response.Body.Close()
			}
			http.DefaultClient.CloseIdleConnections()
		}()
		return nil
	}
	status, err := oauth.Login(ctx, notes, store, oauth.LoginOptions{Open: browser})
	fmt.Println(status.State, status.Scopes, status.Store, err)

	// The proxy again.
	value, err := source.Authorization(ctx)
	fmt.Println(value != "", err)

	was, err := oauth.Logout(ctx, notes, store)
	fmt.Println(was, err)
	status, err = oauth.StatusOf(notes, store, time.Now())
	fmt.Println(status.State, err)
	// Output:
	// notes requires login (nobody is logged in): the user must run petrigate login notes
	// valid [read] file <nil>
	// true <nil>
	// true <nil>
	// none <nil>
}
