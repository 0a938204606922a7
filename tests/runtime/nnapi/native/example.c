/* A client of NNAPI, as it would be for a phone: builds a small quant8 network, runs it on every device, alone
 * each time, and compares what they answer. Prints a line for each device; exit status 0 if all agree.
 */

#include <stdio.h>
#include <string.h>

#include <android/NeuralNetworks.h>

enum { SIZE = 8, CHANNELS = 4, CLASSES = 10, PIXELS = SIZE * SIZE, MAX_DEVICES = 8 };

static void must(int code, const char *call)
{
    if (code == ANEURALNETWORKS_NO_ERROR)
        return;
    fprintf(stderr, "%s answers %d\n", call, code);
    _Exit(1);
}

#define MUST(call) must(call, #call)

/* Operands are numbered in the order in which they are added. */
static uint32_t add_operand(ANeuralNetworksModel *model, int32_t code, uint32_t rank, const uint32_t *dimensions,
                            float scale, int32_t zero_point)
{
    static uint32_t count;
    const ANeuralNetworksOperandType type = {code, rank, dimensions, scale, zero_point};
    MUST(ANeuralNetworksModel_addOperand(model, &type));
    return count++;
}

static uint32_t add_number(ANeuralNetworksModel *model, int32_t value)
{
    uint32_t index = add_operand(model, ANEURALNETWORKS_INT32, 0, NULL, 0.0f, 0);
    MUST(ANeuralNetworksModel_setOperandValue(model, (int32_t)index, &value, sizeof value));
    return index;
}

static uint32_t add_constant(ANeuralNetworksModel *model, uint32_t index, const void *data, size_t size)
{
    MUST(ANeuralNetworksModel_setOperandValue(model, (int32_t)index, data, size));
    return index;
}

static uint8_t weights[CHANNELS * 3 * 3], matrix[CLASSES * PIXELS * CHANNELS];
static int32_t filter_bias[CHANNELS], matrix_bias[CLASSES];

/* Bytes that look random and are always the same. */
static uint8_t next_byte(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (uint8_t)(*state >> 24);
}

/* Convolution with RELU, then a fully connected layer. */
static ANeuralNetworksModel *build_model(void)
{
    static const uint32_t image[] = {1, SIZE, SIZE, 1}, filter[] = {CHANNELS, 3, 3, 1}, channels[] = {CHANNELS};
    static const uint32_t features[] = {1, SIZE, SIZE, CHANNELS}, rows[] = {CLASSES, PIXELS * CHANNELS};
    static const uint32_t classes[] = {CLASSES}, scores[] = {1, CLASSES};
    const int32_t quant8 = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, int32 = ANEURALNETWORKS_TENSOR_INT32;
    uint32_t random = 1;
    for (size_t i = 0; i < sizeof weights; i++)
        weights[i] = next_byte(&random);
    for (size_t i = 0; i < sizeof matrix; i++)
        matrix[i] = next_byte(&random);
    for (int i = 0; i < CLASSES; i++)
        matrix_bias[i] = 50 * i - 200;

    ANeuralNetworksModel *model = NULL;
    MUST(ANeuralNetworksModel_create(&model));
    uint32_t in = add_operand(model, quant8, 4, image, 0.5f, 128);
    uint32_t convolution[7];
    convolution[0] = in;
    convolution[1] = add_constant(model, add_operand(model, quant8, 4, filter, 0.25f, 120), weights, sizeof weights);
    convolution[2] = add_constant(model, add_operand(model, int32, 1, channels, 0.125f, 0), filter_bias,
                                  sizeof filter_bias);
    convolution[3] = add_number(model, ANEURALNETWORKS_PADDING_SAME);
    convolution[4] = convolution[5] = add_number(model, 1);
    convolution[6] = add_number(model, ANEURALNETWORKS_FUSED_RELU);
    uint32_t middle = add_operand(model, quant8, 4, features, 32.0f, 0);
    MUST(ANeuralNetworksModel_addOperation(model, ANEURALNETWORKS_CONV_2D, 7, convolution, 1, &middle));

    uint32_t dense[4];
    dense[0] = middle;
    dense[1] = add_constant(model, add_operand(model, quant8, 2, rows, 0.5f, 127), matrix, sizeof matrix);
    dense[2] = add_constant(model, add_operand(model, int32, 1, classes, 16.0f, 0), matrix_bias, sizeof matrix_bias);
    dense[3] = add_number(model, ANEURALNETWORKS_FUSED_NONE);
    uint32_t out = add_operand(model, quant8, 2, scores, 4096.0f, 128);
    MUST(ANeuralNetworksModel_addOperation(model, ANEURALNETWORKS_FULLY_CONNECTED, 4, dense, 1, &out));

    MUST(ANeuralNetworksModel_identifyInputsAndOutputs(model, 1, &in, 1, &out));
    MUST(ANeuralNetworksModel_finish(model));
    return model;
}

/* Run the model on one device and return the simulated nanoseconds, UINT64_MAX where there is no such time. */
static uint64_t run(ANeuralNetworksModel *model, const ANeuralNetworksDevice *device, const uint8_t *input,
                    uint8_t *output)
{
    ANeuralNetworksCompilation *compilation = NULL;
    ANeuralNetworksExecution *execution = NULL;
    ANeuralNetworksEvent *event = NULL;
    uint64_t duration_ns = 0;
    MUST(ANeuralNetworksCompilation_createForDevices(model, &device, 1, &compilation));
    MUST(ANeuralNetworksCompilation_setPreference(compilation, ANEURALNETWORKS_PREFER_SUSTAINED_SPEED));
    MUST(ANeuralNetworksCompilation_finish(compilation));
    MUST(ANeuralNetworksExecution_create(compilation, &execution));
    MUST(ANeuralNetworksExecution_setInput(execution, 0, NULL, input, PIXELS));
    MUST(ANeuralNetworksExecution_setOutput(execution, 0, NULL, output, CLASSES));
    MUST(ANeuralNetworksExecution_setMeasureTiming(execution, true));
    MUST(ANeuralNetworksExecution_startCompute(execution, &event));
    MUST(ANeuralNetworksEvent_wait(event));
    ANeuralNetworksEvent_free(event);
    MUST(ANeuralNetworksExecution_getDuration(execution, ANEURALNETWORKS_DURATION_ON_HARDWARE, &duration_ns));
    ANeuralNetworksExecution_free(execution);
    ANeuralNetworksCompilation_free(compilation);
    return duration_ns;
}

int main(void)
{
    uint32_t count = 0;
    uint8_t input[PIXELS], outputs[MAX_DEVICES][CLASSES];
    uint32_t random = 2;
    bool agree = true;
    for (int i = 0; i < PIXELS; i++)
        input[i] = next_byte(&random);
    ANeuralNetworksModel *model = build_model();
    MUST(ANeuralNetworks_getDeviceCount(&count));
    for (uint32_t i = 0; i < count && i < MAX_DEVICES; i++) {
        ANeuralNetworksDevice *device = NULL;
        const char *name = NULL;
        MUST(ANeuralNetworks_getDevice(i, &device));
        MUST(ANeuralNetworksDevice_getName(device, &name));
        uint64_t duration_ns = run(model, device, input, outputs[i]);
        printf("%s:", name);
        for (int j = 0; j < CLASSES; j++)
            printf(" %d", outputs[i][j]);
        if (duration_ns != UINT64_MAX)
            printf(" after %llu ns", (unsigned long long)duration_ns);
        printf("\n");
        agree = agree && memcmp(outputs[0], outputs[i], CLASSES) == 0;
    }
    ANeuralNetworksModel_free(model);
    printf(agree ? "all %u devices agree\n" : "the %u devices differ\n", (unsigned)count);
    return agree ? 0 : 1;
}
