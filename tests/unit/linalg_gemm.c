/* src/linalg: matrix products, and what else runs over the pool. Every table is compared with the
 * reference for all transposes and odd shapes; what lies between rows is NaN, so that reading it
 * shows, and must not be written. */
#include "linalg_tables.h"

#include <math.h>

typedef struct shape {
    size_t m, n, k;
} shape;

/* Edges of the register tiles (6 x 16, 14 x 32, 32 x 32), of panels in k,
 * and slices of a long k. */
static const shape SHAPES[] = {
    {1, 1, 1},     {1, 5, 7},       {2, 16, 8},    {3, 17, 33},    {5, 31, 1},    {6, 16, 320},
    {7, 33, 40},   {12, 48, 100},   {13, 15, 333}, {14, 32, 17},   {15, 65, 64},  {28, 40, 9},
    {29, 70, 31},  {33, 34, 513},   {61, 3, 257},  {64, 64, 64},   {100, 19, 50}, {259, 37, 21},
    {4, 1100, 12}, {20, 530, 3},    {3, 4, 20000}, {20, 9, 16500}, {0, 3, 4},     {3, 0, 4},
    {3, 4, 0},     {70, 1100, 100}, {800, 40, 33},
};
static bool is_large(shape s)
{
    return s.m * s.n * s.k > 1000000;
}

enum { SHAPE_COUNT = sizeof SHAPES / sizeof SHAPES[0] };

/* A matrix with gaps of NaN behind its rows. Every fifth number lies between two of bfloat16. */
typedef struct matrix {
    float *x;
    size_t rows, columns, ld;
} matrix;

static matrix make_matrix(uint64_t key, size_t rows, size_t columns, size_t gap)
{
    matrix a = {NULL, rows, columns, columns + gap};
    a.x = malloc((rows * a.ld + 1) * sizeof *a.x);
    assert_non_null(a.x);
    fill_random(key, rows * a.ld, -1.0f, 1.0f, a.x);
    for (size_t i = 0; i < rows * a.ld; i += 5)
        a.x[i] = copysignf(0.5f + floorf(128 * fabsf(a.x[i])) / 256 + 1.0f / 512, a.x[i]);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = columns; j < a.ld; j++)
            a.x[i * a.ld + j] = NAN;
    return a;
}

static matrix copy_matrix(matrix a)
{
    matrix b = a;
    b.x = malloc((a.rows * a.ld + 1) * sizeof *b.x);
    assert_non_null(b.x);
    memcpy(b.x, a.x, a.rows * a.ld * sizeof *b.x);
    return b;
}

/* Sums of k products may differ from the reference by this share of the sum of their sizes. */
static void assert_product(const wfre_gemm_job *job, matrix got, matrix want)
{
    double tolerance = (4e-7 + 1e-9 * sqrt((double)job->k)) * fabs((double)job->alpha);
    for (size_t i = 0; i < got.rows; i++)
        for (size_t j = 0; j < got.ld; j++) {
            float g = got.x[i * got.ld + j], w = want.x[i * want.ld + j];
            if (j >= got.columns) {
                assert_true(isnan(g));
                continue;
            }
            double sizes = 1 + (double)job->k / 4;
            if (!(fabs((double)g - (double)w) <= tolerance * sizes))
                fail_msg("%zu x %zu x %zu%s%s: C[%zu][%zu] is %.9g, not %.9g", job->m, job->n,
                         job->k, job->transpose_a ? " A'" : "", job->transpose_b ? " B'" : "", i, j,
                         (double)g, (double)w);
        }
}

static void check_product(wfre_linalg *linalg, wfre_precision precision, shape s, unsigned variant)
{
    bool ta = variant & 1, tb = variant & 2;
    size_t gap = variant & 4 ? 3 : 0;
    matrix a = make_matrix(variant, ta ? s.k : s.m, ta ? s.m : s.k, gap);
    matrix b = make_matrix(variant + 10, tb ? s.n : s.k, tb ? s.k : s.n, 2 * gap);
    matrix c = make_matrix(variant + 20, s.m, s.n, gap);
    wfre_gemm_job job = {ta,  tb,   s.m,  s.n, s.k, variant & 4 ? -0.5f : 1.0f, a.x, a.ld,
                         b.x, b.ld, 0.0f, c.x, c.ld};
    if (variant & 8)
        job.beta = variant & 4 ? 0.25f : 1.0f;
    else
        for (size_t i = 0; i < s.m * c.ld; i++)
            c.x[i] = NAN; /* beta = 0 does not read C */
    matrix want = copy_matrix(c);
    wfre_gemm_job reference = job;
    reference.c = want.x;
    for (size_t row = 0; row < s.m; row++)
        wfre_gemm_reference_row(&reference, precision, row);
    assert_ok(wfre_gemm(linalg, precision, &job, 1, error));
    assert_product(&job, c, want);
    free(a.x);
    free(b.x);
    free(c.x);
    free(want.x);
}

static void check_products(const kernel_set *set)
{
    wfre_linalg *linalg = NULL;
    assert_ok(wfre_linalg_create_with(NULL, &set->kernels, &linalg, error));
    for (int precision = WFRE_FP32; precision <= WFRE_BF16; precision++)
        for (int i = 0; i < SHAPE_COUNT; i++)
            for (unsigned variant = 0; variant < 16; variant += is_large(SHAPES[i]) ? 5 : 1)
                check_product(linalg, (wfre_precision)precision, SHAPES[i], variant);
    wfre_linalg_free(linalg);
}

/* ---- the number of threads ---------------------------------------------------------------- */

enum { LIST = SHAPE_COUNT };

typedef struct job_list {
    wfre_gemm_job jobs[LIST];
    matrix a[LIST], b[LIST], c[LIST];
} job_list;

static job_list *make_jobs(void)
{
    job_list *list = calloc(1, sizeof *list);
    assert_non_null(list);
    for (size_t i = 0; i < LIST; i++) {
        shape s = SHAPES[i];
        bool ta = i % 3 == 0, tb = i % 2 == 0;
        list->a[i] = make_matrix(i, ta ? s.k : s.m, ta ? s.m : s.k, 0);
        list->b[i] = make_matrix(i + 100, tb ? s.n : s.k, tb ? s.k : s.n, 0);
        list->c[i] = make_matrix(i + 200, s.m, s.n, 0);
        list->jobs[i] =
            (wfre_gemm_job){ta,   tb,           s.m,           s.n,          s.k,
                            1.0f, list->a[i].x, list->a[i].ld, list->b[i].x, list->b[i].ld,
                            0.5f, list->c[i].x, list->c[i].ld};
    }
    return list;
}

static void free_jobs(job_list *list)
{
    for (size_t i = 0; i < LIST; i++) {
        free(list->a[i].x);
        free(list->b[i].x);
        free(list->c[i].x);
    }
    free(list);
}

static void assert_same_results(const job_list *a, const job_list *b)
{
    for (size_t i = 0; i < LIST; i++) {
        size_t bytes = a->c[i].rows * a->c[i].ld * sizeof(float);
        if (bytes)
            assert_memory_equal(a->c[i].x, b->c[i].x, bytes);
    }
}

/* A list over 1, 2 and 7 threads, and its jobs one by one: the same bits. */
static void check_threads(const kernel_set *set)
{
    for (int precision = WFRE_FP32; precision <= WFRE_BF16; precision++) {
        job_list *alone = make_jobs();
        wfre_linalg *linalg = NULL;
        assert_ok(wfre_linalg_create_with(NULL, &set->kernels, &linalg, error));
        for (size_t i = 0; i < LIST; i++)
            assert_ok(wfre_gemm(linalg, (wfre_precision)precision, &alone->jobs[i], 1, error));
        wfre_linalg_free(linalg);
        const unsigned threads[] = {1, 2, 7};
        for (int t = 0; t < 3; t++) {
            job_list *list = make_jobs();
            wfre_pool *pool = NULL;
            assert_ok(wfre_pool_create(threads[t], &pool, error));
            assert_ok(wfre_linalg_create_with(pool, &set->kernels, &linalg, error));
            assert_ok(wfre_gemm(linalg, (wfre_precision)precision, list->jobs, LIST, error));
            assert_same_results(alone, list);
            wfre_linalg_free(linalg);
            wfre_pool_free(pool);
            free_jobs(list);
        }
        free_jobs(alone);
    }
}

enum { ROWS = 1203, WIDTH = 37, COUNT = ROWS * WIDTH }; /* several pieces of everything */

/* Layer norm, AdamW and a sum over all of it, on so many threads. */
static void run_pooled(const kernel_set *set, unsigned threads, float *out, double *sum)
{
    wfre_pool *pool = NULL;
    wfre_linalg *linalg = NULL;
    assert_ok(wfre_pool_create(threads, &pool, error));
    assert_ok(wfre_linalg_create_with(pool, &set->kernels, &linalg, error));
    float *x = out, *y = out + COUNT, *dy = out + 2 * COUNT, *dx = out + 3 * COUNT;
    float *gain = out + 4 * COUNT, *bias = gain + WIDTH, *dgain = bias + WIDTH;
    fill_random(1, 5 * COUNT, 0.0f, 1.0f, out);
    wfre_norm_job job = {.rows = ROWS,
                         .width = WIDTH,
                         .activation = WFRE_SIGMOID,
                         .epsilon = 1e-5f,
                         .gain = gain,
                         .bias = bias,
                         .x = x,
                         .ldx = WIDTH,
                         .y = y,
                         .ldy = WIDTH,
                         .mean = dgain + 2 * WIDTH,
                         .rstd = dgain + 2 * WIDTH + ROWS,
                         .dy = dy,
                         .lddy = WIDTH,
                         .dx = dx,
                         .lddx = WIDTH,
                         .dgain = dgain,
                         .dbias = dgain + WIDTH};
    wfre_norm_forward(linalg, &job);
    assert_ok(wfre_norm_backward(linalg, &job, error));
    wfre_adamw adamw = {
        .rate = 0.1f, .beta1 = 0.9f, .beta2 = 0.9f, .epsilon = 1e-8f, .gradient_scale = 1.0f};
    wfre_adamw_at(&adamw, 1);
    wfre_adamw_update(linalg, &adamw, COUNT, x, y, dy, dx);
    *sum = wfre_squared_norm(linalg, 5 * COUNT, out);
    wfre_linalg_free(linalg);
    wfre_pool_free(pool);
}

static void check_pooled(const kernel_set *set)
{
    static float one[5 * COUNT], many[5 * COUNT];
    double sum, other;
    run_pooled(set, 1, one, &sum);
    assert_true(fabs(sum - wfre_vector_reference.squared_norm(5 * COUNT, one)) < 1e-9 * sum);
    for (unsigned threads = 2; threads <= 7; threads += 5) {
        run_pooled(set, threads, many, &other);
        assert_memory_equal(one, many, sizeof one);
        assert_true(sum == other);
    }
}

/* ---- memory ------------------------------------------------------------------------------- */

static wfre_status run_everything(void *context)
{
    job_list *list = context;
    wfre_linalg *linalg = NULL;
    wfre_error error;
    wfre_isa isa;
    wfre_status status = wfre_isa_select(&isa, &error);
    if (status == WFRE_OK)
        status = wfre_linalg_create(NULL, isa, &linalg, &error);
    if (status == WFRE_OK)
        status = wfre_gemm(linalg, WFRE_FP32, list->jobs, LIST, &error);
    static float numbers[8];
    wfre_norm_job norm = {.rows = 2,
                          .width = 2,
                          .gain = numbers,
                          .bias = numbers,
                          .x = numbers,
                          .y = numbers + 4,
                          .mean = numbers,
                          .rstd = numbers + 2,
                          .dy = numbers,
                          .dx = numbers + 4};
    if (status == WFRE_OK)
        status = wfre_norm_backward(linalg, &norm, &error);
    wfre_linalg_free(linalg);
    return status;
}

static void test_allocations(void **state)
{
    (void)state;
    job_list *list = make_jobs();
    sweep_allocations(run_everything, list);
    free_jobs(list);
}

/* A second call of the same size takes no new memory. */
static void test_steady_state(void **state)
{
    (void)state;
    job_list *list = make_jobs();
    wfre_linalg *linalg = NULL;
    wfre_isa isa;
    assert_ok(wfre_isa_select(&isa, error));
    assert_ok(wfre_linalg_create(NULL, isa, &linalg, error));
    assert_ok(wfre_gemm(linalg, WFRE_FP32, list->jobs, LIST, error));
    wfre_alloc_fail_at(1);
    assert_ok(wfre_gemm(linalg, WFRE_FP32, list->jobs, LIST, error));
    assert_int_equal(wfre_alloc_count(), 0);
    wfre_alloc_fail_at(0);
    wfre_linalg_free(linalg);
    free_jobs(list);
}

static void test_unavailable(void **state)
{
    (void)state;
    for (int isa = WFRE_ISA_REFERENCE; isa <= WFRE_ISA_AMX; isa++) {
        wfre_linalg *linalg = NULL;
        wfre_error error;
        wfre_status status = wfre_linalg_create(NULL, (wfre_isa)isa, &linalg, &error);
        assert_int_equal(status,
                         wfre_isa_available((wfre_isa)isa) ? WFRE_OK : WFRE_ERR_UNSUPPORTED);
        wfre_linalg_free(linalg);
    }
}

static void test_products(void **state)
{
    (void)state;
    for_each_kernel_set(check_products);
}

static void test_threads(void **state)
{
    (void)state;
    for_each_kernel_set(check_threads);
    for_each_kernel_set(check_pooled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),    cmocka_unit_test(test_threads),
        cmocka_unit_test(test_allocations), cmocka_unit_test(test_steady_state),
        cmocka_unit_test(test_unavailable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
