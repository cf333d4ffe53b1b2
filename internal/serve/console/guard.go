package console

import (
	"bytes"
	"crypto/subtle"
	"net/http"
	"strings"
)

// guard returns a handler that passes a request to h only if it comes from a browser that is logged
// in. A request that may change something must also come from a page of the console. The handler
// answers requests for static files and login requests itself, and refuses all others.
func (d *logins) guard(h http.Handler) http.Handler {
	open := fileHandler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		for name, value := range map[string]string{
			"Content-Security-Policy": contentPolicy, "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
			"Permissions-Policy": "camera=(), geolocation=(), microphone=()",
		} {
			header.Set(name, value)
		}
		if !d.isAllowedHost(r.Host) {
			http.Error(w, "The console does not serve this host; console.allowedHosts can allow it.", http.StatusForbidden)
			return
		}
		if err := d.cross.Check(r); err != nil || !d.isSameSite(r) {
			http.Error(w, "This request comes from a page of another site.", http.StatusForbidden)
			return
		}
		switch {
		case isFile(r.URL.Path):
			open.ServeHTTP(w, r)
		case r.Method == http.MethodPost && r.URL.Path == "/login":
			d.login(w, r)
		default:
			d.requireLogin(h, w, r)
		}
	})
}

// isSameSite reports whether a request was sent by a page of the console, judging by headers that
// browsers set. It returns true for all GET and HEAD requests, because they change nothing.
//
// Most pages of the console send no referrer, so browsers set the Origin header to "null"; only the
// login page sends its real origin. A reverse proxy may rewrite the Host header, so the Origin
// header may also contain another allowed host.
func (d *logins) isSameSite(r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
	if origin == "" || origin == "null" {
		return site == "same-origin"
	}
	_, host, ok := strings.Cut(origin, "://")
	if !ok || !strings.EqualFold(host, r.Host) && !d.isAllowedHost(host) {
		return false
	}
	return site == "same-origin" || site == "" && strings.EqualFold(host, r.Host)
}

// requireLogin passes a request to h if the request has a valid cookie. A form must also have the
// session's token.
func (d *logins) requireLogin(h http.Handler, w http.ResponseWriter, r *http.Request) {
	v, ok := d.visitorFor(cookieOf(r))
	switch {
	case !ok && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		d.showLogin(w, r, "", http.StatusUnauthorized)
		return
	case !ok:
		http.Error(w, "Sign in again with petrigate open.", http.StatusUnauthorized)
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		if err := r.ParseForm(); err != nil {
			http.Error(w, "The form cannot be read.", http.StatusBadRequest)
			return
		}
		if subtle.ConstantTimeCompare([]byte(r.PostForm.Get("token")), []byte(v.Token)) != 1 {
			http.Error(w, "The form belongs to another login. Reload the page.", http.StatusForbidden)
			return
		}
	}
	h.ServeHTTP(w, r.WithContext(withVisitor(r.Context(), v)))
}

// login exchanges the submitted code for a cookie and redirects the browser to the requested page.
func (d *logins) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	cookie := d.redeem(strings.TrimSpace(r.PostFormValue("code")))
	if cookie == "" {
		d.showLogin(w, r, "The code is invalid, expired or already used.", http.StatusForbidden)
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(r.Host), Value: cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: strings.HasPrefix(r.Header.Get("Origin"), "https://"), // the Origin header shows whether the browser uses https, even if a reverse proxy handles TLS; guard has checked the host in this header
	})
	http.Redirect(w, r, localPath(r.PostFormValue("next")), http.StatusSeeOther)
}

// showLogin writes the page that asks for a login code. After the login, the browser is redirected
// to the page that it first requested.
func (d *logins) showLogin(w http.ResponseWriter, r *http.Request, wrong string, code int) {
	next := r.URL.RequestURI()
	if r.Method == http.MethodPost {
		next = localPath(r.PostFormValue("next"))
	}
	var b bytes.Buffer
	if err := pages().ExecuteTemplate(&b, "login", map[string]string{"Next": next, "Wrong": wrong}); err != nil {
		http.Error(w, "The page cannot be rendered.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Referrer-Policy", "same-origin") // makes the browser send the real Origin header with the form; this header shows whether https is used
	send(w, code, b.Bytes())
}

func (d *logins) logout(w http.ResponseWriter, r *http.Request) {
	d.endSession(cookieOf(r))
	http.SetCookie(w, &http.Cookie{Name: cookieName(r.Host), Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// contentPolicy restricts pages to content from the console itself, and prevents scripts from
// turning text into markup.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; " +
	"frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// localPath returns the path if it is a local path of the console, and otherwise the path of the
// start page.
func localPath(path string) string {
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\\r\n\t") {
		return "/"
	}
	return path
}
