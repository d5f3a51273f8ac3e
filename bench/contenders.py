# SPDX-License-Identifier: Apache-2.0
"""mote and its peers, for compare.py: each is made with (file, work, threads, name), and measure() gives one number of
which less is better: milliseconds, or for work that counts memory MiB. `packages` must be installed for a peer."""
import json
import math
import os
import re
import statistics
import subprocess
import sys
import time

from models import graph_inputs, installed, pseudo_ids

# The milliseconds of one measure() are the median of as many runs as take so long, and of so many at least.
SECONDS, REPEAT = 0.3, 3
# Whether the processor's time counts instead, which is that of one thread (compare.py --processor).
PROCESSOR = False


def median_ms(run):
    clock = time.process_time if PROCESSOR else time.perf_counter
    times = []
    while len(times) < REPEAT or sum(times) < 1000 * SECONDS:
        start = clock()
        run()
        times.append(1000 * (clock() - start))
    return statistics.median(times)


# ---- In a model that is loaded ----


class Mote:
    """By `mote bench`, which measures the machine's limit beside the model. `shares` are those of each measure(). A
    prompt of None is what the model takes: a picture or ten seconds."""
    name = "mote"
    of_shallow = ()

    def __init__(self, binary, file, work, threads):
        arguments = {"prompt": 0, "decode": 0} | work
        self.command = [str(binary), "bench", str(file), "--threads", str(threads), "--json"]
        for key, value in arguments.items():
            if value is not None and (key != "decode" or value):
                self.command += [f"--{key}", str(value)]
        if not arguments["decode"] and "batch" not in work:
            self.command += ["--decode", "0"]
        self.tokens = work.get("decode") or work["prompt"] and work["prompt"] * work.get("batch", 1)
        self.decodes = bool(work.get("decode"))
        self.shares, self.repeat = [], 1
        self.repeat = max(REPEAT, math.ceil(1000 * SECONDS / self.measure()))
        self.shares.clear()

    def measure(self):
        command = [*self.command, "--repeat", str(self.repeat)]
        result = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        self.isa = result["isa"]
        self.shares.append(result["share_of_bandwidth" if self.decodes else "share_of_multiply_adds"])
        if PROCESSOR:
            self.shares.clear()  # are of the clock's time
            return result["decode_processor_ms" if self.decodes else "prompt_processor_ms"]
        return 1000 * self.tokens / result["decode_tokens_per_s"] if self.decodes else result["prompt_ms"]


class MoteAtDepth(Mote):
    """`of_shallow`: how fast it is as a share of how fast it was at depth 0, a moment earlier."""

    def __init__(self, binary, file, work, threads):
        self.of_shallow = []
        self.shallow = Mote(binary, file, work | {"depth": 0}, threads)
        super().__init__(binary, file, work, threads)
        self.of_shallow.clear()

    def measure(self):
        shallow = self.shallow.measure()
        deep = super().measure()
        self.of_shallow.append(shallow / deep)
        return deep


class MoteTranslator(Mote):
    """A batch of sources encoded and as many outputs decoded, greedily or by beams; the limit is that of decoding."""

    def __init__(self, binary, file, work, threads):
        work = {key: value for key, value in work.items() if key != "beams" or value > 1}
        super().__init__(binary, file, work, threads)

    def measure(self):
        command = [*self.command, "--repeat", str(self.repeat)]
        result = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        self.isa = result["isa"]
        self.shares.append(result["share_of_bandwidth"])
        tokens = result["decode"] * result["batch"]
        return result["prompt_ms"] + 1000 * tokens / result["decode_tokens_per_s"]


class LlamaCpp:
    packages = ["llama_cpp"]

    def __init__(self, file, work, threads, name):
        import llama_cpp
        self.name, self.work = f"llama.cpp {name}", work
        context = work.get("depth", 0) + work.get("prompt", 0) + work.get("decode", 0) + 8
        self.model = llama_cpp.Llama(str(file), n_ctx=context, n_threads=threads, n_threads_batch=threads, n_batch=512,
                                     verbose=False)
        self.ids = pseudo_ids(context, self.model.n_vocab())

    def measure(self):
        depth, decode = self.work.get("depth", 0), self.work.get("decode", 0)

        def run():
            if not decode:
                self.model.reset()
                self.model.eval(self.ids[:self.work["prompt"]])
            for i in range(decode):
                self.model.n_tokens = depth + i
                self.model.eval([self.ids[depth + i]])

        if decode:
            self.model.reset()
            self.model.eval(self.ids[:max(depth, 1)])
        return median_ms(run)


class OpenVinoGenAi:
    """Reads the GGUF itself, and has its own defaults for activations, keys and values: in bf16 where the processor has
    AMX. Prompts only: decoding from a GGUF takes it several times what reading memory explains, which need not be so of
    models it converts. It remembers prompts, so each is another."""
    packages = ["openvino_genai"]
    properties = {}

    def __init__(self, file, work, threads, name):
        import numpy
        import openvino
        import openvino_genai
        self.name = f"OpenVINO {name}"
        self.ids = numpy.array([pseudo_ids(work["prompt"], 30000)], numpy.int64)
        self.mask = openvino.Tensor(numpy.ones_like(self.ids))
        self.inputs = lambda: openvino_genai.TokenizedInputs(openvino.Tensor(self.ids), self.mask)
        self.pipeline = openvino_genai.LLMPipeline(str(file), "CPU", INFERENCE_NUM_THREADS=threads, **self.properties)
        self.config = openvino_genai.GenerationConfig(max_new_tokens=1, ignore_eos=True)
        self.run()

    def run(self):
        self.ids[0, 0] += 1
        self.pipeline.generate(self.inputs(), self.config)

    def measure(self):
        return median_ms(self.run)


class OpenVinoGenAiF32(OpenVinoGenAi):
    """Not rounded to bf16, as mote's sums are not."""
    properties = {"INFERENCE_PRECISION_HINT": "f32"}


class OnnxRuntime:
    packages = ["onnxruntime", "onnx", "torch", "transformers"]

    def __init__(self, file, work, threads, name):
        import onnxruntime
        self.name = f"ONNX Runtime {name}"
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        self.session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        self.inputs = graph_inputs([value.name for value in self.session.get_inputs()], work["batch"], work["prompt"])
        self.session.run(None, self.inputs)

    def measure(self):
        return median_ms(lambda: self.session.run(None, self.inputs))


class OpenVino:
    packages = ["openvino", "onnx", "torch", "transformers"]

    def __init__(self, file, work, threads, name):
        import openvino
        self.name = f"OpenVINO {name}"
        core = openvino.Core()
        model = core.read_model(str(file))
        self.inputs = graph_inputs([value.any_name for value in model.inputs], work["batch"], work["prompt"])
        model.reshape({key: list(value.shape) for key, value in self.inputs.items()})
        settings = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"}
        self.request = core.compile_model(model, "CPU", settings).create_infer_request()
        self.request.infer(self.inputs)

    def measure(self):
        return median_ms(lambda: self.request.infer(self.inputs))


class OpenVinoInt8(OpenVino):
    packages = [*OpenVino.packages, "nncf"]


class CTranslate2:
    packages = ["ctranslate2", "torch", "transformers"]

    def __init__(self, file, work, threads, name):
        import ctranslate2
        import numpy
        self.name = f"CTranslate2 {name}"
        self.encoder = ctranslate2.Encoder(str(file), compute_type=name, intra_threads=threads, inter_threads=1)
        ids = graph_inputs(["input_ids"], work["batch"], work["prompt"])["input_ids"].astype(numpy.int32)
        lengths = numpy.full(len(ids), ids.shape[1], numpy.int32)
        self.arrays = [ids, lengths]  # the views do not own their memory
        self.inputs = [ctranslate2.StorageView.from_array(array) for array in self.arrays]
        self.types = numpy.zeros_like(ids).tolist()
        self.run()

    def run(self):
        self.encoder.forward_batch(*self.inputs, token_type_ids=self.types)

    def measure(self):
        return median_ms(self.run)


class CTranslate2Translator:
    """Outputs of exactly as many tokens as mote decodes."""
    packages = ["ctranslate2"]

    def __init__(self, file, work, threads, name):
        import ctranslate2
        self.name = f"CTranslate2 {name}"
        self.model = ctranslate2.Translator(str(file), compute_type=name, intra_threads=threads, inter_threads=1)
        self.sources = [[f"t{3 + i}" for i in pseudo_ids(work["prompt"], 30000)]] * work["batch"]
        self.options = {"beam_size": work["beams"], "max_decoding_length": work["decode"],
                        "min_decoding_length": work["decode"], "max_batch_size": 0}
        self.run()

    def run(self):
        self.model.translate_batch(self.sources, **self.options)

    def measure(self):
        return median_ms(self.run)


# ---- A whole process ----

# A process starts with the peak of the one that forked it, so that a small one must start those that are measured.
LAUNCHER = """
import os, sys, time
start = time.perf_counter()
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(child, 0)
processor = usage.ru_utime + usage.ru_stime
print()  # the program's last line may have no end
print(1000 * (time.perf_counter() - start), 1000 * processor, usage.ru_maxrss / 1024)
sys.exit(os.waitstatus_to_exitcode(status))
"""


class Process:
    """Runs `command`. `work` is {"context", "tokens"} and either {"text"}, to measure the milliseconds from the start to
    the end, or {"ids"}, how many to begin with, to measure the peak of its resident memory."""

    def __init__(self, command, work):
        self.command = [str(part) for part in command]
        self.counts_memory = "ids" in work

    def once(self):
        """Milliseconds, MiB, what it printed."""
        result = subprocess.run([sys.executable, "-I", "-S", "-c", LAUNCHER, *self.command], capture_output=True,
                                text=True)
        if result.returncode:
            raise RuntimeError(f"{self.command[0]} failed: {result.stderr}")
        *printed, figures = result.stdout.splitlines()
        milliseconds, processor, peak = map(float, figures.split())
        return processor if PROCESSOR else milliseconds, peak, "\n".join(printed)

    def measure(self):
        if self.counts_memory:
            return self.once()[1]
        return statistics.median(self.once()[0] for _ in range(REPEAT))


def prompt_option(work):
    if "text" in work:
        return ["--prompt", work["text"]]
    return ["--ids", ",".join(map(str, pseudo_ids(work["ids"], 30000)))]


class MoteProcess(Process):
    """`mote run`. A share is what the file and the arena take of the peak."""
    name = "mote"
    of_shallow = ()

    def __init__(self, binary, file, work, threads):
        super().__init__([binary, "run", file, "--greedy", "--ignore-stop", "--json", "--kv", "f16", "--context",
                          work["context"], "--threads", threads, "--tokens", work["tokens"], *prompt_option(work)], work)
        self.file_bytes, self.tokens, self.shares = os.path.getsize(file), None, []

    def once(self):
        milliseconds, peak, printed = super().once()
        result = json.loads(printed)
        self.isa = result["isa"]
        if self.counts_memory:
            self.shares.append((self.file_bytes + result["arena_bytes"]) / (peak * 2**20))
        return milliseconds, peak, printed


class MoteTranscribe(Process):
    """`mote transcribe`, from the start of the process to the last word."""
    name = "mote"
    of_shallow = ()

    def __init__(self, binary, file, work, threads):
        super().__init__([binary, "transcribe", file, work["sound"](), "--json", "--language", "en", "--threads", threads], work)
        self.tokens, self.shares = None, []
        self.isa = os.environ.get("MOTE_ISA", "the best")


class FasterWhisper:
    """CTranslate2 with Whisper's loop around it. The model has been loaded, the sound not."""
    packages = ["faster_whisper"]

    def __init__(self, file, work, threads, name):
        import faster_whisper
        self.name, self.sound = f"CTranslate2 {name}", str(work["sound"]())
        self.model = faster_whisper.WhisperModel(str(file), compute_type=name, cpu_threads=threads)

    def measure(self):
        return median_ms(lambda: list(self.model.transcribe(self.sound, beam_size=1, language="en")[0]))


class CTranslate2Whisper:
    """The encoder alone, over features that are made up."""
    packages = ["ctranslate2"]

    def __init__(self, file, work, threads, name):
        import ctranslate2
        import numpy
        self.name = f"CTranslate2 {name}"
        self.model = ctranslate2.models.Whisper(str(file), compute_type=name, intra_threads=threads, inter_threads=1)
        self.array = numpy.random.default_rng(1).standard_normal((1, self.model.n_mels, work["prompt"]), numpy.float32)
        self.features = ctranslate2.StorageView.from_array(self.array)

    def measure(self):
        return median_ms(lambda: self.model.encode(self.features, to_cpu=True))


class WhisperCpp(Process):
    """whisper.cpp's whisper-cli: what it says its encoder took, or the process with a whole transcription. `file` makes
    the paths of that program, a model and a sound."""
    packages = ["faster_whisper"]

    def __init__(self, file, work, threads, name):
        program, model, sound = file
        self.name, self.encoder = f"whisper.cpp {name}", "prompt" in work
        greedy = ["--no-gpu", "--no-timestamps", "--beam-size", 1, "--best-of", 1, "--language", "en"]
        super().__init__([program, "--model", model, "--file", sound, "--threads", threads, *greedy], work)

    def measure(self):
        if not self.encoder:
            return super().measure()
        said = subprocess.run(self.command, check=True, capture_output=True, text=True).stderr
        total, runs = re.search(r"encode time = +([0-9.]+) ms / +([0-9]+) runs", said).groups()
        return float(total) / int(runs)


class LlamaCppProcess(Process):
    """llama_generate.c; `file` is that program and a GGUF."""
    packages = ["llama_cpp"]

    def __init__(self, file, work, threads, name):
        self.name = f"llama.cpp {name}"
        super().__init__([*file, work["context"], threads, work["tokens"], *prompt_option(work)], work)
