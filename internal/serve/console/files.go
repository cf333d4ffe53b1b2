package console

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"strings"
)

//go:embed static
var static embed.FS

// versions maps the name of each static file to the first characters of the hash of its content.
// Pages refer to the files by URLs that include this version, so that a browser can cache each file
// until it changes.
var versions = func() map[string]string {
	all := map[string]string{}
	entries, err := static.ReadDir("static")
	if err != nil {
		panic(err) // cannot fail: the directory is embedded
	}
	for _, e := range entries {
		content, err := static.ReadFile("static/" + e.Name())
		if err != nil {
			panic(err) // cannot fail: the file is embedded
		}
		sum := sha256.Sum256(content)
		all[e.Name()] = hex.EncodeToString(sum[:8])
	}
	return all
}()

// fileOf returns the URL of a static file, including its version.
func fileOf(name string) string { return "/" + name + "?v=" + versions[name] }

// isFile reports whether the path addresses a static file.
func isFile(path string) bool {
	name, rooted := strings.CutPrefix(path, "/")
	return rooted && versions[name] != ""
}

// fileHandler returns a handler for the static files. They contain no data, so no login is
// required.
func fileHandler() http.Handler {
	sub, err := fs.Sub(static, "static")
	if err != nil {
		panic(err) // cannot fail: the directory is embedded
	}
	server := http.FileServerFS(sub)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery == "v="+versions[strings.TrimPrefix(r.URL.Path, "/")] {
			w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
		}
		server.ServeHTTP(w, r)
	})
}
