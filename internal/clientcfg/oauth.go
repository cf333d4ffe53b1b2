package clientcfg

import (
	"encoding/json"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/internal/clientcfg/splice"
)

// readOAuth reads how the client authenticates with a server.
func (r *reader) readOAuth(key string, v any) {
	if v == false {
		r.oauth = false
		return
	}
	fields, ok := v.(map[string]any)
	if !ok {
		r.to.Dropped = append(r.to.Dropped, key)
		return
	}
	o := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !r.readLogin(o, name, fields[name]) {
			r.to.Dropped = append(r.to.Dropped, key+"."+name)
		}
	}
	var ours splice.Object
	for _, name := range slices.Sorted(maps.Keys(o)) {
		ours = append(ours, splice.Member{Key: name, Value: o[name]})
	}
	if len(ours) > 0 {
		r.oauth = ours
	}
}

// readLogin reads one key. It reports whether petrigate's configuration has an equivalent.
func (r *reader) readLogin(o map[string]any, name string, v any) bool {
	switch name {
	case "clientId", "client_id", "CLIENT_ID":
		o["clientId"] = r.text(name, v)
	case "clientSecret", "client_secret", "CLIENT_SECRET":
		r.note(name + " is not taken: write it as oauth.clientSecret, beside oauth.issuer, the authorization server that it is for")
	case "scope", "scopes":
		list, _ := v.([]any)
		all := texts(list)
		if text, ok := v.(string); ok {
			all = strings.Fields(text)
		}
		if len(all) > 0 {
			o["scopes"] = all
		}
	case "callbackPort":
		port, ok := v.(json.Number)
		n, err := strconv.Atoi(port.String())
		if !ok || err != nil {
			return false
		}
		o["redirectPort"], o["redirectHost"] = n, "localhost"
	case "redirectUri":
		text, _ := v.(string)
		return readRedirect(o, text)
	default:
		return false
	}
	return true
}

// readRedirect reads a redirect URI.
func readRedirect(o map[string]any, text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" {
		return false
	}
	host, port, err := net.SplitHostPort(u.Host)
	n, bad := strconv.Atoi(port)
	if err != nil || bad != nil {
		return false
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	o["redirectPort"], o["redirectHost"] = n, host
	if u.Path != "" {
		o["redirectPath"] = u.Path
	}
	return true
}

// addOAuth adds the result of [reader.readOAuth] to the server. It is omitted if a header already
// authenticates, because a server has only one authorization.
func (r *reader) addOAuth(add func(string, any)) {
	if o, is := r.oauth.(splice.Object); len(r.scopes) > 0 && (is || r.oauth == nil) && !slices.ContainsFunc(o, func(m splice.Member) bool { return m.Key == "scopes" }) {
		r.oauth = append(slices.Clone(o), splice.Member{Key: "scopes", Value: r.scopes})
	}
	if r.oauth == nil {
		return
	}
	for name := range r.headers {
		if o, is := r.oauth.(splice.Object); is && o != nil && strings.EqualFold(name, "Authorization") {
			r.note("oauth is not taken: the server has a header Authorization")
			return
		}
	}
	add("oauth", r.oauth)
}

// note adds a note about the server for the user.
func (r *reader) note(text string) { r.to.Notes = append(r.to.Notes, text) }
