--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: account; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.account (
    id text NOT NULL,
    "accountId" text NOT NULL,
    "providerId" text NOT NULL,
    "userId" text NOT NULL,
    "accessToken" text,
    "refreshToken" text,
    "idToken" text,
    "accessTokenExpiresAt" timestamp with time zone,
    "refreshTokenExpiresAt" timestamp with time zone,
    scope text,
    password text,
    "createdAt" timestamp with time zone NOT NULL,
    "updatedAt" timestamp with time zone NOT NULL
);


--
-- Name: administrators; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.administrators (
    owner text,
    first integer,
    claimed_at bigint
);


--
-- Name: installation; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.installation (
    id text NOT NULL
);


--
-- Name: jobs; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.jobs (
    id text NOT NULL,
    holder text NOT NULL,
    owner text,
    idempotency_key text,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    finished_at bigint,
    outcome text,
    body text,
    digest text,
    metadata text
);


--
-- Name: kysely_migration; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.kysely_migration (
    name character varying(255) NOT NULL,
    "timestamp" character varying(255) NOT NULL
);


--
-- Name: kysely_migration_lock; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.kysely_migration_lock (
    id character varying(255) NOT NULL,
    is_locked integer DEFAULT 0 NOT NULL
);


--
-- Name: playground_codes; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.playground_codes (
    hash text NOT NULL,
    expires_at bigint NOT NULL
);


--
-- Name: session; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.session (
    id text NOT NULL,
    "expiresAt" timestamp with time zone NOT NULL,
    token text NOT NULL,
    "createdAt" timestamp with time zone NOT NULL,
    "updatedAt" timestamp with time zone NOT NULL,
    "ipAddress" text,
    "userAgent" text,
    "userId" text NOT NULL
);


--
-- Name: tokens; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.tokens (
    id text NOT NULL,
    name text NOT NULL,
    prefix text NOT NULL,
    hash text NOT NULL,
    scopes text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint,
    owner text,
    session text,
    last_used_at bigint,
    purpose text
);


--
-- Name: usage; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.usage (
    token text NOT NULL,
    date text NOT NULL,
    owner text,
    requests bigint NOT NULL,
    errors bigint NOT NULL,
    audio_ms bigint NOT NULL
);


--
-- Name: user; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public."user" (
    id text NOT NULL,
    name text NOT NULL,
    email text NOT NULL,
    "emailVerified" boolean NOT NULL,
    image text,
    "createdAt" timestamp with time zone NOT NULL,
    "updatedAt" timestamp with time zone NOT NULL
);


--
-- Name: verification; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.verification (
    id text NOT NULL,
    identifier text NOT NULL,
    value text NOT NULL,
    "expiresAt" timestamp with time zone NOT NULL,
    "createdAt" timestamp with time zone NOT NULL,
    "updatedAt" timestamp with time zone NOT NULL
);


--
-- Data for Name: account; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.account VALUES ('fwaWUBc29lOHl5lQ19iH8avy5KJ67oFG', '33XOoHTJYKy3RzAWFjwF1OM3DXqfFpsx', 'credential', '33XOoHTJYKy3RzAWFjwF1OM3DXqfFpsx', NULL, NULL, NULL, NULL, NULL, NULL, '0286800fa5380624dae5fa15c1ccf363:b3fed4dccae412ae2dc2ffc0ec28effb8683c58ab37aa49543104882f84752eaf1ef5bd5735569bab3da5a9889bd6b57fee58720709ce6cd6843361aa8de2823', '2026-11-27 06:56:27.712+00', '2026-11-27 06:56:27.712+00');


--
-- Data for Name: administrators; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.administrators VALUES ('33XOoHTJYKy3RzAWFjwF1OM3DXqfFpsx', 1, NULL);


--
-- Data for Name: installation; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.installation VALUES ('1832e276-dd5d-4416-b1b5-fad9384dd7a7');


--
-- Data for Name: jobs; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.jobs VALUES ('job_nLibUxYqbKb2VvuTBv1W', 'account:33XOoHTJYKy3RzAWFjwF1OM3DXqfFpsx', '33XOoHTJYKy3RzAWFjwF1OM3DXqfFpsx', 'first', 1795762588872, 1795848988955, 1795762588955, 'done', '{"status":"ok","emotion":{"status":"ok","signals":{"valence":0.1255,"arousal":0.0383,"dominant_emotion":"happy","tone":"neutral","emotions":{"neutral":0.174,"calm":0.0089,"happy":0.714,"sad":0.0001,"angry":0,"fearful":0,"disgusted":0.0003,"surprised":0.1027},"confidence":0.714,"intervals":{"valence":[0.0705,0.1805],"arousal":[0,0.0959]}},"timeline":[{"start_s":0,"end_s":1.13,"valence":0.1515,"arousal":0.025,"dominant_emotion":"happy","emotions":{"neutral":0.3254,"calm":0.0124,"happy":0.4527,"sad":0.0001,"angry":0,"fearful":0,"disgusted":0.0005,"surprised":0.2089},"confidence":0.4527,"intervals":{"valence":[0.0783,0.2246],"arousal":[0,0.1231]},"relative":null},{"start_s":1.59,"end_s":2.9,"valence":0.1031,"arousal":0.0497,"dominant_emotion":"happy","emotions":{"neutral":0.0435,"calm":0.0059,"happy":0.9393,"sad":0.0001,"angry":0,"fearful":0,"disgusted":0.0002,"surprised":0.011},"confidence":0.9393,"intervals":{"valence":[0.0433,0.1629],"arousal":[0,0.1308]},"relative":null}],"moments":null,"relative":null,"warnings":["narrow_band","music_or_noise","short_speech","unlike_training"],"model":{"name":"emotion","version":"1.0.0","features_version":1}},"cognitive":{"status":"ok","signals":{"cognitive_load":0.5039,"clarity":0.7689,"processing":0.4912,"confidence":0.0562,"intervals":{"clarity":[0.6422,0.8955],"cognitive_load":[0.1222,0.8882],"processing":[0.1098,0.8758]}},"measures":{"pause_ratio":{"value":0.1586,"unit":"ratio"},"pause_rate":{"value":20.6897,"unit":"1/min"},"mean_pause":{"value":0.46,"unit":"s"},"long_pause_rate":{"value":0,"unit":"1/min"},"mean_run":{"value":1.22,"unit":"s"},"mean_run_syllables":{"value":3.0179,"unit":"syllables"},"articulation_rate":{"value":2.4737,"unit":"syllables/s"},"speech_rate":{"value":2.0813,"unit":"syllables/s"},"pitch_level":{"value":29.521,"unit":"semitones re 27.5 Hz"},"pitch_range":{"value":4.9091,"unit":"semitones"},"level_range":{"value":13.788,"unit":"dB"},"spectral_tilt":{"value":-9.2797,"unit":"dB/octave"},"hesitation_rate":{"value":20.6897,"unit":"1/min","validated":false}},"contributions":{"cognitive_load":[{"measure":"pause_ratio","value":0.1586,"effect":-0.0057,"source":"Khawaja, Ruiz & Chen 2008"},{"measure":"mean_run","value":1.22,"effect":0.0096,"source":"Betz et al. 2023, Languages 8:71"}],"processing":[{"measure":"mean_run","value":1.22,"effect":-0.012,"source":"Betz et al. 2023, Languages 8:71"},{"measure":"pause_ratio","value":0.1586,"effect":0.0032,"source":"Khawaja, Ruiz & Chen 2008"}]},"reference":0.5,"relative":false,"warnings":["narrow_band","music_or_noise","short_speech","insufficient_speech_cognitive"],"model":{"name":"cognitive","version":"1.0.0","features_version":1}},"audio":{"duration_s":3.6998,"speech_s":2.44,"container":"wav","codec":"pcm_mulaw","sample_rate_hz":8000,"channels":1,"snr_db":18.1,"level_dbfs":-19.4,"clipped_ratio":0,"bandwidth_hz":3956},"segments":[{"type":"speech","start_s":0,"end_s":1.13},{"type":"pause","start_s":1.13,"end_s":1.59},{"type":"speech","start_s":1.59,"end_s":2.9},{"type":"pause","start_s":2.9,"end_s":3.6998}],"request_id":"job_nLibUxYqbKb2VvuTBv1W","receipt":{"version":1,"issued_at":"2026-11-27T06:56:28.950Z","purpose":"tests of upgrades","key_id":"fe316589c9127944","upload_sha256":"06de679745a4c179c688bca53b906c57dcf97636018804d6d1e6b2b5c2814f92","baselines_sha256":[],"segments_sha256":null,"samples_sha256":["daf56ec3c4e06e9fd857eb7aea522971c0f73c2e025d06ea6b4a3b60bce3b6c7"],"report_sha256":"c0ba0a4f7ccffa574ee73dc773e04f390db6974f3b8e83d4bcad80188e02621b","options":{"signals":["emotion","cognitive"],"channel":null,"channels":null,"speakers":null},"scores":[{"emotion":{"valence":0.1255,"arousal":0.0383,"dominant_emotion":"happy","tone":"neutral","emotions":{"neutral":0.174,"calm":0.0089,"happy":0.714,"sad":0.0001,"angry":0,"fearful":0,"disgusted":0.0003,"surprised":0.1027},"confidence":0.714,"intervals":{"valence":[0.0705,0.1805],"arousal":[0,0.0959]}},"cognitive":{"cognitive_load":0.5039,"clarity":0.7689,"processing":0.4912,"confidence":0.0562,"intervals":{"clarity":[0.6422,0.8955],"cognitive_load":[0.1222,0.8882],"processing":[0.1098,0.8758]}}}],"software":{"undertone":"1.0.0","node":"20.20.2","addon_sha256":"1012920d1924d4f1af2aa0eaa6335cc553d2c6a98d7d20efc0e5570fd1dbeafa","features_version":1,"models":[{"name":"cognitive","version":"1.0.0","sha256":"7e73d87888d2275b3c8c2f7015ec3a62b16ee067c448bc18b8a9ccd3babd47c5"},{"name":"emotion","version":"1.0.0","sha256":"69927293beea3fe6ad1fb0f2c73577827f091a3aafaf116082dadb064d0b291d"},{"name":"trunk","version":"1.0.0","sha256":"09a473e45b3ff01ca329a2eff0e27a88da324b75d39e77ca7e1265254a069dec"},{"name":"vad","version":"1.0.0","sha256":"46392c0ac9afd1484c0625571dfee143e2023be229b966b0e7b096e098d174cb"}],"libraries":{"libavformat":"59.27.100","libavcodec":"59.37.100","libavutil":"57.28.100","soxr":"0.1.3","onnxruntime":"1.30.0"},"kernel":{"architecture":"x64","lanes":16,"exact_int8":true}},"signature":"c5mVvo/Xwd2KV1J5uA/tYnrfFFLsZdmEPz6dMOg8XxlcxYLsCEnZPyJhM8ZYNyalQGIJYq8vL4FoY4QT4aRSAg=="}}', '07aa17cee539f0d147a477180fcd4f18f6532ef48d43a204388beca59e972f51', 'aSz7QgmhuT2ylcgJc3/G6HcOHJA4RlH0njM2N995T4xzKABjrYUOjhUHJg==');
INSERT INTO public.jobs VALUES ('job_RgXmuBGceQ7I7Q7UsEnD', 'account:33XOoHTJYKy3RzAWFjwF1OM3DXqfFpsx', '33XOoHTJYKy3RzAWFjwF1OM3DXqfFpsx', 'second', 1795762589292, 1795870589292, NULL, NULL, NULL, '2cce2684e213238a1c9ceff545546b29edb21eecaaee6d5e7e8776287f596f0d', 'nea4pMFbs6d9cUtQQHq+YNdOT1RVy7XfDFC/Lus7AUVWPcX/sfeed2miAVU=');


--
-- Data for Name: kysely_migration; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.kysely_migration VALUES ('0001-schema', '2026-11-27T06:56:27.306Z');


--
-- Data for Name: kysely_migration_lock; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.kysely_migration_lock VALUES ('migration_lock', 0);


--
-- Data for Name: playground_codes; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: session; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.session VALUES ('L9o21OiX23ASyXC7alK1zHWBxjUrlM3y', '2026-12-04 06:56:27.716+00', 'D1e8CfKQ5Ape5L9Jv5DE58sUXwMYM0LS', '2026-11-27 06:56:27.716+00', '2026-11-27 06:56:27.716+00', '', '', '33XOoHTJYKy3RzAWFjwF1OM3DXqfFpsx');


--
-- Data for Name: tokens; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tokens VALUES ('tok_VJd62Vrvai8b', 'recorded', 'ut_v7f7', 'e62292aad1ee1a1de3930056f69b99a587de106d646ab616c0e8d38cd6d7546a', 'analyze:emotion analyze:cognitive', 1795762587759, NULL, NULL, '33XOoHTJYKy3RzAWFjwF1OM3DXqfFpsx', NULL, 1795762560000, 'tests of upgrades');


--
-- Data for Name: usage; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.usage VALUES ('tok_VJd62Vrvai8b', '2026-11-27', '33XOoHTJYKy3RzAWFjwF1OM3DXqfFpsx', 7, 0, 7400);


--
-- Data for Name: user; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public."user" VALUES ('33XOoHTJYKy3RzAWFjwF1OM3DXqfFpsx', '', 'recorded@example.org', false, NULL, '2026-11-27 06:56:27.702+00', '2026-11-27 06:56:27.702+00');


--
-- Data for Name: verification; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Name: account account_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.account
    ADD CONSTRAINT account_pkey PRIMARY KEY (id);


--
-- Name: administrators administrators_first_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.administrators
    ADD CONSTRAINT administrators_first_key UNIQUE (first);


--
-- Name: administrators administrators_owner_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.administrators
    ADD CONSTRAINT administrators_owner_key UNIQUE (owner);


--
-- Name: installation installation_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.installation
    ADD CONSTRAINT installation_pkey PRIMARY KEY (id);


--
-- Name: jobs jobs_idempotency_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_idempotency_key UNIQUE (holder, idempotency_key);


--
-- Name: jobs jobs_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (id);


--
-- Name: kysely_migration_lock kysely_migration_lock_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.kysely_migration_lock
    ADD CONSTRAINT kysely_migration_lock_pkey PRIMARY KEY (id);


--
-- Name: kysely_migration kysely_migration_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.kysely_migration
    ADD CONSTRAINT kysely_migration_pkey PRIMARY KEY (name);


--
-- Name: playground_codes playground_codes_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.playground_codes
    ADD CONSTRAINT playground_codes_pkey PRIMARY KEY (hash);


--
-- Name: session session_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.session
    ADD CONSTRAINT session_pkey PRIMARY KEY (id);


--
-- Name: session session_token_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.session
    ADD CONSTRAINT session_token_key UNIQUE (token);


--
-- Name: tokens tokens_hash_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_hash_key UNIQUE (hash);


--
-- Name: tokens tokens_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (id);


--
-- Name: usage usage_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.usage
    ADD CONSTRAINT usage_pkey PRIMARY KEY (token, date);


--
-- Name: user user_email_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."user"
    ADD CONSTRAINT user_email_key UNIQUE (email);


--
-- Name: user user_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public."user"
    ADD CONSTRAINT user_pkey PRIMARY KEY (id);


--
-- Name: verification verification_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.verification
    ADD CONSTRAINT verification_pkey PRIMARY KEY (id);


--
-- Name: account_userId_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "account_userId_idx" ON public.account USING btree ("userId");


--
-- Name: jobs_expires_at_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX jobs_expires_at_idx ON public.jobs USING btree (expires_at);


--
-- Name: jobs_holder_created_at_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX jobs_holder_created_at_idx ON public.jobs USING btree (holder, created_at, id);


--
-- Name: jobs_owner_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX jobs_owner_idx ON public.jobs USING btree (owner);


--
-- Name: session_userId_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX "session_userId_idx" ON public.session USING btree ("userId");


--
-- Name: tokens_live_name; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX tokens_live_name ON public.tokens USING btree (COALESCE(owner, ''::text), name) WHERE ((revoked_at IS NULL) AND (session IS NULL));


--
-- Name: tokens_owner_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX tokens_owner_idx ON public.tokens USING btree (owner);


--
-- Name: tokens_session_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX tokens_session_idx ON public.tokens USING btree (session);


--
-- Name: usage_date_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX usage_date_idx ON public.usage USING btree (date);


--
-- Name: usage_owner_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX usage_owner_idx ON public.usage USING btree (owner);


--
-- Name: verification_identifier_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX verification_identifier_idx ON public.verification USING btree (identifier);


--
-- Name: account account_userId_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.account
    ADD CONSTRAINT "account_userId_fkey" FOREIGN KEY ("userId") REFERENCES public."user"(id) ON DELETE CASCADE;


--
-- Name: administrators administrators_owner_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.administrators
    ADD CONSTRAINT administrators_owner_fkey FOREIGN KEY (owner) REFERENCES public."user"(id) ON DELETE SET NULL;


--
-- Name: jobs jobs_owner_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_owner_fkey FOREIGN KEY (owner) REFERENCES public."user"(id) ON DELETE CASCADE;


--
-- Name: session session_userId_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.session
    ADD CONSTRAINT "session_userId_fkey" FOREIGN KEY ("userId") REFERENCES public."user"(id) ON DELETE CASCADE;


--
-- Name: tokens tokens_owner_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_owner_fkey FOREIGN KEY (owner) REFERENCES public."user"(id) ON DELETE CASCADE;


--
-- Name: tokens tokens_session_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_session_fkey FOREIGN KEY (session) REFERENCES public.session(id) ON DELETE CASCADE;


--
-- Name: usage usage_owner_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.usage
    ADD CONSTRAINT usage_owner_fkey FOREIGN KEY (owner) REFERENCES public."user"(id) ON DELETE CASCADE;


--
-- PostgreSQL database dump complete
--


