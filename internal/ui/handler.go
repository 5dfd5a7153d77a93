package ui

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

//go:embed dist
var dist embed.FS

// Options configure the web UI.
type Options struct {
	// Path is where the UI is served, such as /ui/ or /timers/ui/. The path before its last element is also accepted before the
	// paths of the API, for proxies that do not remove it: /timers/api/v1/….
	Path string
	// ReadOnly hides all actions. It does not restrict the API.
	ReadOnly bool
	// HidePayloads hides payloads, bodies and headers of timers. It does not restrict the API.
	HidePayloads bool
	// SignIn is how users sign in with an identity provider; the zero value: they enter a token.
	SignIn SignIn
	// Version is shown.
	Version string
	// CheckHost returns an error if a request must not have this Host header; nil accepts all.
	CheckHost func(host string) error
}

// SignIn configures the sign-in by the authorization code flow with PKCE, in the browser and without a client secret.
type SignIn struct {
	// ClientID is that of the UI at the provider; empty: no sign-in.
	ClientID string
	// Issuer is the provider's URL. Browsers send requests to its origin only.
	Issuer string
	// Audience selects the token that is sent to the API: the access token or the ID token.
	Audience string
	// Scopes are requested; openid is one of them.
	Scopes string
}

var originPattern = regexp.MustCompile(`^https?://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:\d+)?$`)

// Check returns an error unless users can sign in as configured.
func (s *SignIn) Check() error {
	if s.ClientID == "" {
		return nil
	}
	_, err := s.origin()
	switch {
	case s.Issuer == "":
		return timer.Invalid("ui-oidc-client-id", s.ClientID, "oidc-issuer, too: the identity provider that has this client")
	case err != nil:
		return err
	case !slices.Contains(strings.Fields(s.Scopes), "openid"):
		return timer.Invalid("ui-oidc-scopes", s.Scopes, `scopes with openid, such as "openid profile"`)
	}
	return nil
}

// origin returns the origin of the issuer, for the policy. It contains no characters that have a meaning there.
func (s *SignIn) origin() (string, error) {
	u, err := url.Parse(s.Issuer)
	if err != nil || !originPattern.MatchString(u.Scheme+"://"+u.Host) {
		return "", timer.Invalid("oidc-issuer", s.Issuer, "the URL of an identity provider, such as https://accounts.example.com")
	}
	return u.Scheme + "://" + u.Host, nil
}

const wantPath = "a path of letters, digits, -, _ and ., such as /ui/ or /timers/ui/, " +
	"whose first and last parts are not api, metrics, healthz or readyz"

var (
	pathPattern = regexp.MustCompile(`^(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+/$`)
	reserved    = regexp.MustCompile(`^/(api|metrics|healthz|readyz)/|/(api|metrics|healthz|readyz)/$`)
)

// CheckPath returns an error unless the UI can be served at a path.
func CheckPath(path string) error {
	if !pathPattern.MatchString(path) || reserved.MatchString(path) {
		return timer.Invalid("ui-path", path, wantPath)
	}
	return nil
}

// policy allows the scripts and styles of this server, and requests to it and to the origin that replaces %s. Nothing is loaded from
// elsewhere, no inline script or style is run, no text becomes markup, and no page may frame the UI.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'%s; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// headers are those of every answer, with the policy.
var headers = map[string]string{
	"X-Frame-Options":              "DENY",
	"X-Content-Type-Options":       "nosniff",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Permissions-Policy":           "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
	// The names of the files do not change between releases, so browsers ask each time, and get 304.
	"Cache-Control": "no-cache",
	"Vary":          "Accept-Encoding",
}

// contentTypes lists the files of dist.
var contentTypes = map[string]string{
	"index.html":   "text/html; charset=utf-8",
	"app.js":       "text/javascript; charset=utf-8",
	"app.css":      "text/css; charset=utf-8",
	"icon.svg":     "image/svg+xml",
	"licenses.txt": "text/plain; charset=utf-8",
}

// file is a file as it is sent.
type file struct {
	contentType, tag string
	plain, gzip      []byte
}

type handler struct {
	Options

	base   string // Path without its last element: "" or "/timers"
	policy string
	files  map[string]file
	api    http.Handler
}

// New returns a handler that serves the UI at o.Path, and passes all other requests to api.
func New(o Options, api http.Handler) (http.Handler, error) {
	if err := CheckPath(o.Path); err != nil {
		return nil, err
	}
	if err := o.SignIn.Check(); err != nil {
		return nil, err
	}
	if o.SignIn.ClientID == "" {
		o.SignIn = SignIn{}
	}
	h := &handler{Options: o, api: api, files: map[string]file{}, policy: fmt.Sprintf(policy, "")}
	if o.SignIn.ClientID != "" {
		origin, err := o.SignIn.origin()
		if err != nil {
			return nil, err
		}
		h.policy = fmt.Sprintf(policy, " "+origin)
	}
	trimmed := strings.TrimSuffix(o.Path, "/")
	h.base = trimmed[:strings.LastIndexByte(trimmed, '/')]
	for name, contentType := range contentTypes {
		text, err := dist.ReadFile("dist/" + name)
		if err != nil {
			return nil, err
		}
		if name == "index.html" {
			text = h.configured(text)
		}
		if h.files[name], err = newFile(contentType, text); err != nil {
			return nil, fmt.Errorf("compress %s: %w", name, err)
		}
	}
	return h, nil
}

// configured replaces the placeholders of the page. html/template is not used, because it would keep the linker from removing
// unused methods.
func (h *handler) configured(page []byte) []byte {
	return []byte(strings.NewReplacer(
		"{{version}}", html.EscapeString(h.Version),
		"{{readOnly}}", strconv.FormatBool(h.ReadOnly),
		"{{hidePayloads}}", strconv.FormatBool(h.HidePayloads),
		"{{issuer}}", html.EscapeString(h.SignIn.Issuer),
		"{{audience}}", html.EscapeString(h.SignIn.Audience),
		"{{clientID}}", html.EscapeString(h.SignIn.ClientID),
		"{{scopes}}", html.EscapeString(h.SignIn.Scopes),
	).Replace(string(page)))
}

func newFile(contentType string, text []byte) (file, error) {
	var compressed bytes.Buffer
	w, err := gzip.NewWriterLevel(&compressed, gzip.BestCompression)
	if err != nil {
		return file{}, err
	}
	if _, err := w.Write(text); err != nil {
		return file{}, err
	}
	if err := w.Close(); err != nil {
		return file{}, err
	}
	sum := sha256.Sum256(text)
	return file{contentType: contentType, tag: hex.EncodeToString(sum[:12]), plain: text, gzip: compressed.Bytes()}, nil
}

// ServeHTTP serves the UI, or passes the request on.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, below := strings.CutPrefix(r.URL.Path, h.Path)
	switch {
	case below:
		h.serve(w, r, name)
	case r.URL.Path+"/" == h.Path:
		h.setHeaders(w.Header())
		// A relative Location is also right behind a proxy that removes a prefix.
		w.Header().Set("Location", h.Path[len(h.base)+1:])
		w.WriteHeader(http.StatusPermanentRedirect)
	case h.base != "" && strings.HasPrefix(r.URL.Path, h.base+"/"):
		http.StripPrefix(h.base, h.api).ServeHTTP(w, r)
	default:
		h.api.ServeHTTP(w, r)
	}
}

func (h *handler) setHeaders(of http.Header) {
	of.Set("Content-Security-Policy", h.policy)
	for name, value := range headers {
		of.Set(name, value)
	}
}

func (h *handler) serve(w http.ResponseWriter, r *http.Request, name string) {
	header := w.Header()
	h.setHeaders(header)
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		http.Error(w, r.Method+" is not accepted: want GET", http.StatusMethodNotAllowed)
		return
	}
	if h.CheckHost != nil {
		if err := h.CheckHost(r.Host); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
	}
	if name == "" {
		name = "index.html"
	}
	f, ok := h.files[name]
	if !ok {
		http.Error(w, "the web UI has no file "+strconv.Quote(name), http.StatusNotFound)
		return
	}
	header.Set("Content-Type", f.contentType)
	content, tag := f.plain, f.tag
	if acceptsGzip(r) {
		content, tag = f.gzip, f.tag+"-gzip"
		header.Set("Content-Encoding", "gzip")
	}
	header.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
}

// acceptsGzip reports whether a request accepts gzip; a quality of 0 means that it does not.
func acceptsGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, quality, _ := strings.Cut(strings.TrimSpace(coding), ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			q, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(quality), "q="), 64)
			return err != nil || q > 0
		}
	}
	return false
}
