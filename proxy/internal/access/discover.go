package access

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-jose/go-jose/v4/json"
)

// maxMetadata is the maximum size of an issuer's metadata in bytes.
const maxMetadata = 256 << 10

// locations returns the possible URLs of an issuer's metadata, both for an authorization server
// (RFC 8414, section 3.1) and for an OpenID provider. In RFC 8414 the path of the issuer follows
// the well-known part; for other OpenID providers it precedes the well-known part.
func locations(issuer string) ([]string, error) {
	if err := Trustworthy(issuer); err != nil {
		return nil, err
	}
	u, err := url.Parse(issuer)
	if err != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return nil, fmt.Errorf("%q has a query or a fragment", issuer)
	}
	host, path := u.Scheme+"://"+u.Host, strings.TrimSuffix(u.EscapedPath(), "/")
	all := []string{host + "/.well-known/oauth-authorization-server" + path, host + "/.well-known/openid-configuration" + path}
	if path != "" {
		all = append(all, host+path+"/.well-known/openid-configuration")
	}
	return all, nil
}

// discover fetches the issuer's metadata and returns the URL of the keys. It uses the first
// response that names this issuer.
func (k *keys) discover(ctx context.Context) (jwks string, err error) {
	places, err := locations(k.options.Issuer)
	if err != nil {
		return "", err
	}
	var problems []error
	for _, place := range places {
		body, err := k.get(ctx, place, "application/json", maxMetadata)
		if err == nil {
			jwks, err = k.keysURL(body)
		}
		if err == nil {
			return jwks, nil
		}
		problems = append(problems, fmt.Errorf("%s: %w", place, err))
		if ctx.Err() != nil {
			break
		}
	}
	return "", errors.Join(problems...)
}

// keysURL returns the URL of the keys in an issuer's metadata. It returns an error if the metadata
// names a different issuer, even if only a slash differs (RFC 8414, section 3.3).
func (k *keys) keysURL(body []byte) (string, error) {
	var metadata struct {
		Issuer string `json:"issuer"`
		JWKS   string `json:"jwks_uri"`
	}
	if err := json.Unmarshal(body, &metadata); err != nil {
		return "", errors.New("the answer is not metadata")
	}
	switch {
	case metadata.Issuer != k.options.Issuer:
		return "", fmt.Errorf("the metadata belongs to the issuer %.100q", metadata.Issuer)
	case metadata.JWKS == "":
		return "", errors.New("the metadata has no jwks_uri")
	}
	if err := Trustworthy(metadata.JWKS); err != nil {
		return "", fmt.Errorf("the metadata's jwks_uri: %w", err)
	}
	if strings.HasPrefix(k.options.Issuer, "https:") && !strings.HasPrefix(metadata.JWKS, "https:") {
		return "", errors.New("the metadata's jwks_uri does not begin with https://")
	}
	return metadata.JWKS, nil
}

// get fetches a document. Its argument most is the maximum size in bytes.
func (k *keys) get(ctx context.Context, address, accept string, most int64) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", accept)
	response, err := k.options.Client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the answer is %s", response.Status)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(body)) > most {
		return nil, errors.New("the answer is too large")
	}
	return body, nil
}
