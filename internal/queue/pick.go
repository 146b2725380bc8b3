package queue

import (
	"context"
	"fmt"
)

// candidate is a waiting job that is the first of its key and among the first of its tenant.
type candidate struct {
	number, served int64
	tenant         string
	running        int // jobs of the tenant, on all machines
}

// A job that waits after an error waits minutes: one that seems to wait longer does so since the clock was set back.
// The busy keys are left out; of every other key only the first job counts, and of every tenant only as many as it
// may run.
const candidates = `
WITH busy AS (SELECT key, tenant FROM ralph_queue_jobs WHERE state = 'running'),
first AS (
	SELECT number, tenant, priority, row_number() OVER (PARTITION BY key ORDER BY priority, number) AS place
	FROM ralph_queue_jobs
	WHERE state = 'waiting' AND (due <= $1 OR kills > 0 AND due > $1 + 600000) AND version <= $2
		AND key NOT IN (SELECT key FROM busy)),
best AS (
	SELECT number, tenant, row_number() OVER (PARTITION BY tenant ORDER BY priority, number) AS place
	FROM first WHERE place = 1)
SELECT best.number, best.tenant, (SELECT count(*) FROM busy WHERE busy.tenant = best.tenant),
	COALESCE((SELECT served FROM ralph_queue_tenants WHERE tenant = best.tenant), 0)
FROM best WHERE best.place <= $3 ORDER BY best.tenant, best.place`

// claim takes up to free jobs for this executor, within one transaction that excludes all other processes. It takes
// none if others have declared this executor dead.
func (q *Queue) claim(ctx context.Context, free int) (taken []turn, err error) {
	err = q.db.alone(ctx, func(tx *transaction) error {
		taken = nil
		alive := false
		err := tx.query(ctx, func(row) error { alive = true; return nil },
			`SELECT 1 FROM ralph_queue_executors WHERE id = $1`, q.executor)
		if err != nil {
			return err
		}
		if !alive {
			return ErrOvertaken
		}
		now := millis(q.clock())
		var found []candidate
		err = tx.query(ctx, func(r row) error {
			var c candidate
			err := r.Scan(&c.number, &c.tenant, &c.running, &c.served)
			found = append(found, c)
			return err
		}, candidates, now, Version, free)
		if err != nil {
			return err
		}
		for _, number := range fair(found, free, q.PerTenant) {
			if taken, err = q.take(ctx, tx, number, taken); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("claiming jobs: %w", err)
	}
	return taken, nil
}

// take marks one job as run by this executor. It may have been canceled since.
func (q *Queue) take(ctx context.Context, tx *transaction, number int64, taken []turn) ([]turn, error) {
	var t turn
	err := tx.query(ctx, func(r row) error {
		var due int64
		err := r.Scan(&t.job.ID, &t.job.Key, &t.job.Tenant, &t.job.Priority, &due, &t.job.Body, &t.attempt, &t.kills)
		t.job.NotBefore = moment(due)
		return err
	}, `UPDATE ralph_queue_jobs SET state = 'running', executor = $2, attempt = attempt + 1, started = $3
		WHERE number = $1 AND state = 'waiting'
		RETURNING id, key, tenant, priority, due, body, attempt, kills`, number, q.executor, millis(q.clock()))
	if err != nil || t.attempt == 0 {
		return taken, err
	}
	// The number of the turn, not the time: clocks jump.
	_, err = tx.exec(ctx, `INSERT INTO ralph_queue_tenants (tenant, served)
		VALUES ($1, (SELECT COALESCE(max(served), 0) + 1 FROM ralph_queue_tenants))
		ON CONFLICT (tenant) DO UPDATE SET served = excluded.served`, t.job.Tenant)
	return append(taken, t), err
}

// fair chooses up to free candidates: again and again one of the tenant that runs the least, and of several such
// tenants the one that has waited the longest for a turn. A tenant runs at most limit jobs, if limit is not 0. The
// candidates of one tenant are in the order in which they are to be run.
func fair(all []candidate, free, limit int) (numbers []int64) {
	var order []string
	of := map[string][]candidate{}
	for _, c := range all {
		if of[c.tenant] == nil {
			order = append(order, c.tenant)
		}
		of[c.tenant] = append(of[c.tenant], c)
	}
	running, served, latest := map[string]int{}, map[string]int64{}, int64(0)
	for tenant, list := range of {
		running[tenant], served[tenant] = list[0].running, list[0].served
		latest = max(latest, list[0].served)
	}
	for len(numbers) < free {
		best := ""
		for _, tenant := range order {
			if len(of[tenant]) == 0 || limit > 0 && running[tenant] >= limit {
				continue
			}
			if best == "" || running[tenant] < running[best] ||
				running[tenant] == running[best] && served[tenant] < served[best] {
				best = tenant
			}
		}
		if best == "" {
			break
		}
		numbers = append(numbers, of[best][0].number)
		of[best] = of[best][1:]
		latest++
		running[best], served[best] = running[best]+1, latest
	}
	return numbers
}
