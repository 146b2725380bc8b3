package web

import (
	"context"
	"errors"
	"net/http"
)

// guarded answers the routes and nothing else.
func (s *Server) guarded(table []route) http.Handler {
	mux := http.NewServeMux()
	for _, rt := range table {
		mux.HandleFunc(rt.pattern, func(w http.ResponseWriter, r *http.Request) {
			a := &asked{Server: s, w: w, r: r, kind: rt.kind}
			if err := a.admitted(rt); err != nil {
				a.problem(err)
				return
			}
			if err := rt.answer(a); err != nil {
				a.problem(err)
			}
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		(&asked{Server: s, w: w, r: r}).problem(errHidden)
	})
	crossOrigin := http.NewCrossOriginProtection()
	crossOrigin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		(&asked{Server: s, w: w, r: r}).problem(errForeign)
	}))
	return s.withHeaders(s.ownHost(crossOrigin.Handler(mux)))
}

// admitted finds out who asks about what, and whether they may. It is the only place that does.
func (a *asked) admitted(rt route) error {
	if err := a.identify(); err != nil {
		return err
	}
	if rt.need == anybody {
		return nil
	}
	ctx := a.r.Context()
	if rt.need == settingUp && a.setup.holds(a.cookieValue(setupCookie)) {
		return nil
	}
	if a.who.Login == "" || a.who.Guest && !forGuests(rt, a.r.Method) {
		return errSignIn
	}
	if rt.need == signedIn || rt.need == operator || rt.need == settingUp || rt.of == ofDelivery {
		a.operator = a.access.operator(ctx, a.who)
	}
	switch rt.need {
	case signedIn:
		return nil
	case operator, settingUp:
		if !a.operator {
			return errHidden
		}
		return nil
	}
	if err := a.find(ctx, rt.of); err != nil {
		return err
	}
	return a.permitted(ctx, rt)
}

// permitted holds a request to what the person may do with what it is about.
func (a *asked) permitted(ctx context.Context, rt route) error {
	if a.alone { // there is one run, and whoever is signed in has shown the token
		a.may = MayRead
		return nil
	}
	if a.repository == "" { // a delivery that concerns no repository
		if rt.of == ofDelivery && a.operator {
			a.may = MayWrite
			return nil
		}
		return errHidden
	}
	a.may = a.access.permission(ctx, a.who, a.repository)
	least := MayRead
	if rt.need == writer {
		least = MayWrite
	}
	if a.may < least {
		return errHidden
	}
	return nil
}

// find reads what the address names.
func (a *asked) find(ctx context.Context, of subject) (err error) {
	switch of {
	case ofRun:
		a.run, err = a.Source.Runs.Run(ctx, a.r.PathValue("run"))
		a.repository = a.run.Repository
	case ofDelivery:
		a.delivery, err = a.Source.Deliveries.Delivery(ctx, a.r.PathValue("delivery"))
		a.repository = a.delivery.Repository
	case ofRepository:
		a.repository = a.r.PathValue("owner") + "/" + a.r.PathValue("name")
	default:
		return errHidden // a mistake in the table must not open anything
	}
	if errors.Is(err, ErrNotFound) {
		return errHidden
	}
	return err
}
