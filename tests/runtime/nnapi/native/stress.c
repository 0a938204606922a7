/* Threads that create, set, compute and free in random order, legal and illegal, on objects that all threads share.
 *
 *     stress THREADS STEPS SEED
 *
 * What must hold: no crash, no deadlock, right values from each run that succeeds, and memory that does not grow
 * between the middle and the end. Exit status 0 if it does.
 */

#define _DEFAULT_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <android/NeuralNetworks.h>

enum { SLOTS = 6, VALUES = 4, MAX_THREADS = 16, MAX_GROWTH_KIB = 16 * 1024 };

/* Buffers live to the end: a run in another thread may still use them. */
struct run {
    ANeuralNetworksExecution *execution;
    uint8_t a[VALUES], b[VALUES], sum[VALUES];
};

static ANeuralNetworksModel *models[SLOTS];
static ANeuralNetworksCompilation *compilations[SLOTS];
static ANeuralNetworksEvent *events[SLOTS];
static ANeuralNetworksBurst *bursts[SLOTS];
static ANeuralNetworksMemory *memories[SLOTS];
static pthread_mutex_t slots_lock = PTHREAD_MUTEX_INITIALIZER;
static int steps, successes, mistakes;

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

/* Handles are shared, so another thread may free what is taken here at any time. */
static void *take(void *slots, uint32_t index)
{
    pthread_mutex_lock(&slots_lock);
    void *handle = ((void **)slots)[index % SLOTS];
    pthread_mutex_unlock(&slots_lock);
    return handle;
}

static void *swap(void *slots, uint32_t index, void *handle)
{
    pthread_mutex_lock(&slots_lock);
    void *old = ((void **)slots)[index % SLOTS];
    ((void **)slots)[index % SLOTS] = handle;
    pthread_mutex_unlock(&slots_lock);
    return old;
}

static ANeuralNetworksModel *new_model(uint32_t random)
{
    static const uint32_t dimensions[] = {VALUES}, inputs[] = {0, 1, 2}, outputs[] = {3};
    const ANeuralNetworksOperandType tensor = {ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, 1, dimensions, 1.0f, 0};
    const ANeuralNetworksOperandType number = {ANEURALNETWORKS_INT32, 0, NULL, 0.0f, 0};
    const int32_t fuse = ANEURALNETWORKS_FUSED_NONE;
    ANeuralNetworksModel *model = NULL;
    ANeuralNetworksModel_create(&model);
    ANeuralNetworksModel_addOperand(model, &tensor);
    ANeuralNetworksModel_addOperand(model, &tensor);
    ANeuralNetworksModel_addOperand(model, &number);
    ANeuralNetworksModel_addOperand(model, &tensor);
    ANeuralNetworksModel_setOperandValue(model, random % 8 == 0 ? -1 : 2, &fuse, sizeof fuse);
    ANeuralNetworksModel_addOperation(model, ANEURALNETWORKS_ADD, 3, inputs, 1, outputs);
    ANeuralNetworksModel_identifyInputsAndOutputs(model, 2, inputs, 1, outputs);
    if (random % 8 != 1)
        ANeuralNetworksModel_finish(model);
    return model;
}

static ANeuralNetworksCompilation *new_compilation(uint32_t random)
{
    ANeuralNetworksDevice *device = NULL;
    ANeuralNetworksCompilation *compilation = NULL;
    ANeuralNetworks_getDevice(random % 2, &device);
    const ANeuralNetworksDevice *const listed[] = {device};
    ANeuralNetworksCompilation_createForDevices(take(models, random / 2), listed, 1, &compilation);
    ANeuralNetworksCompilation_setPriority(compilation, ANEURALNETWORKS_PRIORITY_HIGH);
    if (random % 8 != 0)
        ANeuralNetworksCompilation_finish(compilation);
    return compilation;
}

static void check(int code, const struct run *run)
{
    if (code != ANEURALNETWORKS_NO_ERROR)
        return;
    __atomic_add_fetch(&successes, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < VALUES; i++)
        if (run->sum[i] != run->a[i] + run->b[i])
            __atomic_add_fetch(&mistakes, 1, __ATOMIC_RELAXED);
}

/* One execution; events that stand for it are waited for here, and freed by any thread. */
static void execute(struct run *run, uint32_t random)
{
    ANeuralNetworksEvent *event = NULL;
    run->execution = NULL;
    ANeuralNetworksExecution_create(take(compilations, random), &run->execution);
    for (int i = 0; i < VALUES; i++) {
        run->a[i] = (uint8_t)((random + i) % 100);
        run->b[i] = (uint8_t)(random * 3 % 100);
    }
    memset(run->sum, 0, sizeof run->sum);
    ANeuralNetworksExecution_setInput(run->execution, 0, NULL, run->a, VALUES);
    ANeuralNetworksExecution_setInput(run->execution, random % 16 == 0 ? 7 : 1, NULL, run->b, VALUES);
    ANeuralNetworksExecution_setOutput(run->execution, 0, NULL, run->sum, random % 16 == 1 ? 1 : VALUES);
    switch (random % 3) {
    case 0:
        check(ANeuralNetworksExecution_compute(run->execution), run);
        break;
    case 1:
        check(ANeuralNetworksExecution_burstCompute(run->execution, take(bursts, random)), run);
        break;
    default:
        ANeuralNetworksExecution_startCompute(run->execution, &event);
        check(ANeuralNetworksEvent_wait(event), run);
        ANeuralNetworksEvent_free(swap(events, random, event));
    }
    if (random % 5 == 0)
        ANeuralNetworksExecution_compute(run->execution);
    ANeuralNetworksExecution_free(run->execution);
    if (random % 7 == 0)
        ANeuralNetworksExecution_free(run->execution);
}

static void *work(void *argument)
{
    uint32_t state = (uint32_t)(uintptr_t)argument;
    struct run run;
    for (int step = 0; step < steps; step++) {
        uint32_t choice = next(&state) % 10, random = next(&state);
        ANeuralNetworksBurst *burst = NULL;
        ANeuralNetworksMemory *memory = NULL;
        switch (choice) {
        case 0:
            ANeuralNetworksModel_free(swap(models, random, new_model(next(&state))));
            break;
        case 1:
            ANeuralNetworksCompilation_free(swap(compilations, random, new_compilation(next(&state))));
            break;
        case 2:
            ANeuralNetworksBurst_create(take(compilations, random), &burst);
            ANeuralNetworksBurst_free(swap(bursts, random, burst));
            break;
        case 3:
            ANeuralNetworksMemory_createFromFd(64, 3, -1, 0, &memory);
            ANeuralNetworksMemory_free(swap(memories, random, memory));
            break;
        case 4: /* one of another kind */
            ANeuralNetworksModel_finish((ANeuralNetworksModel *)take(compilations, random));
            ANeuralNetworksEvent_wait(take(events, random));
            break;
        default:
            execute(&run, random);
        }
    }
    return NULL;
}

static long resident_kib(void)
{
    long pages = 0, ignored;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &ignored, &pages) != 2)
        return 0;
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void round_of(int threads, uint32_t seed)
{
    pthread_t started[MAX_THREADS];
    for (int i = 0; i < threads; i++)
        pthread_create(&started[i], NULL, work, (void *)(uintptr_t)(seed + 7919u * (uint32_t)i));
    for (int i = 0; i < threads; i++)
        pthread_join(started[i], NULL);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    int threads = atoi(argv[1]) > MAX_THREADS ? MAX_THREADS : atoi(argv[1]);
    uint32_t seed = (uint32_t)atoi(argv[3]);
    steps = atoi(argv[2]) / 2;
    round_of(threads, seed);
    long middle_kib = resident_kib();
    round_of(threads, seed + 1);
    long growth_kib = resident_kib() - middle_kib;
    printf("%d successes, %d mistakes, %ld KiB more\n", successes, mistakes, growth_kib);
    return successes == 0 || mistakes != 0 || growth_kib > MAX_GROWTH_KIB;
}
