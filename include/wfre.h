/* wfre: first-order questions over incomplete knowledge graphs.
 *
 * This header is the whole public interface; each part can also be included alone.
 * Data goes one way: graph -> query -> model -> score -> answer.
 *
 *   wfre/base.h    status codes, errors, thread pool, progress; every other part needs it
 *   wfre/score.h   the WFR score and its relatives, for anyone with two histograms
 *   wfre/graph.h   import, open and inspect graphs
 *   wfre/query.h   parse, print, normalise, answer exactly, sample
 *   wfre/model.h   the model and its file
 *   wfre/engine.h  engines and sessions: what is shared, and what belongs to a thread
 *   wfre/train.h   train one
 *   wfre/eval.h    rank hard answers, average, report
 *   wfre/bench.h   work to measure this machine with
 *   wfre/answer.h  ask: known and predicted answers, explanations
 *   wfre/everyday.h  whether, rows, relations, counts, descriptions, likeness, names being typed
 */
#ifndef WFRE_H
#define WFRE_H

#include "wfre/answer.h"
#include "wfre/base.h"
#include "wfre/bench.h"
#include "wfre/engine.h"
#include "wfre/eval.h"
#include "wfre/everyday.h"
#include "wfre/graph.h"
#include "wfre/model.h"
#include "wfre/query.h"
#include "wfre/score.h"
#include "wfre/sparql.h"
#include "wfre/train.h"

#endif
